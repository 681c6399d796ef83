"""Calls in an R script: what stands plainly, what must be computed, what may not run."""

import pytest

from sfumato.pipelines.migration.r_scripts import read_calls

SIGNATURES = {"f": ("obj", "k", "importance", "combs")}


def calls(script):
    return list(read_calls(script, SIGNATURES))


@pytest.mark.parametrize(
    ("script", "arguments", "computed"),
    [
        ("f(x, k = -2, flag = TRUE, t = 'it\\'s')", {"k": -2, "flag": True, "t": "it's"}, {}),
        ("f(x, k = c(\"a\", 'b', 3L))", {"k": ["a", "b", 3]}, {}),
        ("f(x, k = paste0('a', 1), l = 2)", {"l": 2}, {"k": "paste0('a',1)"}),
        ("f(x, k = 1 + 1)", {}, {"k": "1+1"}),
        ("f(x, k = c(1, 2) + c(3))", {}, {"k": "c(1,2)+c(3)"}),
        ("f(x, k = c('a', b))", {}, {"k": "c('a',b)"}),
        ("f(x, k = NULL)", {}, {}),
        ("f(", {}, {}),
        # by place, by the beginning of a name, and both
        ("f(x, 5)", {"k": 5}, {}),
        ("f(x, imp = c(1, 2), 5)", {"importance": [1, 2], "k": 5}, {}),
        ("f(k = 5, x, c(2, 1))", {"k": 5, "importance": [2, 1]}, {}),
        ("f(x, 'k' = 5)", {"k": 5}, {}),
        # comments and texts with what looks like something else
        ("f(x, k = # 3)\n 5)", {"k": 5}, {}),
        ("f(x, t = 'a) # b, c(', k = 5)", {"t": "a) # b, c(", "k": 5}, {}),
        (r"f(x, t = '\t\u00fc\\')", {"t": "\tü\\"}, {}),
        # pipes hand over the first argument
        ("x |> f(5)", {"k": 5}, {}),
        ("x %>% f(., 5)", {"k": 5}, {}),
        ("x |> f(obj = _, 5)", {"k": 5}, {}),
        ("x %<>% pkg::f(k = 5)", {"k": 5}, {}),
    ],
)
def test_arguments_are_found_as_r_finds_them(script, arguments, computed):
    (call,) = calls(script)
    assert call.arguments == arguments
    assert {key: text for key, text in call.computed.items() if key != "obj"} == computed


@pytest.mark.parametrize(
    "script",
    [
        "K <- 7\nf(x, K)",
        "K = 7; f(x, k = K)",
        "k <- 7\nf(x, k = k)",
        "A <- 7\nB <- A\nf(x, B)",
        "`a b` <- 7\nf(x, `a b`)",
    ],
)
def test_a_name_given_once_before_stands_for_its_value(script):
    assert calls(script)[0].arguments == {"k": 7}


@pytest.mark.parametrize(
    "script",
    [
        "f(x, K)\nK <- 7",
        "K <- 7\nK <- 3\nf(x, K)",
        "K <- 7\nK[1] <- 3\nf(x, K)",
        "K <- 7\nnames(K) <- 'a'\nf(x, K)",
        "K <- 7\n3 -> K\nf(x, K)",
        "K <- 7\nassign('K', 3)\nf(x, K)",
        "K <- 7\nfor (K in 1:3) print(K)\nf(x, K)",
        "K <- 7\nif (y) { K = 3 }\nf(x, K)",
        "K <- 7\ng(K <- 3)\nf(x, K)",
        "if (y)\n  K <- 7\nf(x, K)",
        "K <- 5 +\n 2\nf(x, K)",
        "K <- 7\ng <- function(K) f(x, K)",
    ],
)
def test_a_name_that_may_stand_for_something_else_must_be_computed(script):
    (call,) = calls(script)
    assert call.arguments == {}
    assert call.computed["k"] == "K"


@pytest.mark.parametrize(
    ("script", "conditional"),
    [
        ("f(x, 5)", False),
        ("if (y) f(x, 5)", True),
        ("if (y) {\n  z <- 1\n  f(x, 5)\n}", True),
        ("for (v in w)\n  x <- f(x, 5)", True),
        ("g <- function(x) f(x, 5)", True),
        ("sapply(1:3, \\(v) f(x, 5))", True),
        ("while (y) { }\nf(x, 5)", False),
        ("try({\n  x <- f(x, 5)\n})", False),
    ],
)
def test_a_call_that_may_not_run_is_known(script, conditional):
    (call,) = calls(script)
    assert call.conditional is conditional
    assert call.arguments["k"] == 5


@pytest.mark.parametrize("script", ["lapply(y, f)", "do.call('f', list(x, 5))", "do.call(f, list(x, 5))"])
def test_a_function_that_something_else_calls_is_known(script):
    (call,) = calls(script)
    assert call.handed_on


@pytest.mark.parametrize("script", ["a$f <- 2", "f <- 3", "g(f = 3)", "# f(x)", "print('f(x)')"])
def test_what_only_looks_like_a_call_is_none(script):
    assert calls(script) == []
