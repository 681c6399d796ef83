"""Surveys of which several tables are published, and an attacker of these tables: linear programs over the records."""

import random
from itertools import product

import numpy as np
from scipy.optimize import linprog

# How many records there are of each combination of codes; codes below 3 are sensitive.
GEOGRAPHY = {
    "N,1,u,a,s": 2, "N,1,u,a,t": 9, "N,1,u,b,s": 9, "N,1,u,b,t": 8, "N,1,r,c,s": 7, "N,1,r,c,t": 9, "S,2,u,d,s": 8,
    "S,2,u,d,t": 9, "S,2,r,e,s": 9, "S,2,r,e,t": 7, "S,2,r,f,s": 8, "S,2,r,f,t": 9,
}  # fmt: skip
CHAIN = {
    "N,1,u,a,s": 2, "N,1,u,a,t": 9, "N,1,u,b,s": 9, "N,1,u,b,t": 8, "N,2,u,c,s": 7, "N,2,u,c,t": 9, "N,2,u,d,s": 8,
    "N,2,u,d,t": 9, "S,3,u,e,s": 9, "S,3,u,e,t": 7, "S,3,u,f,s": 8, "S,3,u,f,t": 9,
}  # fmt: skip
BRANCHES = {
    "a,1,N,p,S": 1, "a,1,N,q,S": 1, "a,1,N,r,U": 9, "a,1,N,t,U": 6, "b,1,N,p,S": 7, "b,1,N,q,S": 9, "b,1,N,r,U": 8,
    "b,1,N,t,U": 9, "c,2,N,p,S": 5, "c,2,N,q,S": 9, "c,2,N,r,U": 5, "c,2,N,t,U": 8, "d,2,N,p,S": 7, "d,2,N,q,S": 9,
    "d,2,N,r,U": 6, "d,2,N,t,U": 6, "e,3,S,p,S": 8, "e,3,S,q,S": 9, "e,3,S,r,U": 9, "e,3,S,t,U": 8, "f,3,S,p,S": 8,
    "f,3,S,q,S": 6, "f,3,S,r,U": 6, "f,3,S,t,U": 6,
}  # fmt: skip
PARTS = {
    "A,N,1,g1,s": 2, "A,N,1,g1,t": 9, "A,N,1,g2,s": 9, "A,N,1,g2,t": 8, "A,N,2,g3,s": 7, "A,N,2,g3,t": 9,
    "A,N,2,g4,s": 8, "A,N,2,g4,t": 9, "B,S,3,g5,s": 9, "B,S,3,g5,t": 7, "B,S,3,g6,s": 8, "B,S,3,g6,t": 9,
    "B,W,4,g7,s": 9, "B,W,4,g7,t": 9, "B,W,4,g8,s": 7, "B,W,4,g8,t": 6,
}  # fmt: skip
# The hierarchies of columns; codes of others are not in it.
HIERARCHIES = {
    "gem": "N\n@1\n@@g1\n@@g2\n@2\n@@g3\n@@g4\nS\n@3\n@@g5\n@@g6\nW\n@4\n@@g7\n@@g8\n",
    "kreis": "N\n@N1\n@N9\nS\n@S1\n@S2\nW\n@W1\n@W2\n",
}
# Land, Kreis, sex and age. Apart, one table masks W by sex, the other S, and N,m is disclosed.
AGES = {
    "N,N1,m,a": 1, "N,N1,m,y": 1, "N,N1,w,a": 7, "N,N1,w,y": 8, "S,S1,m,a": 9, "S,S1,m,y": 9, "S,S1,w,a": 1,
    "S,S1,w,y": 9, "S,S2,m,a": 9, "S,S2,w,y": 9, "W,W1,m,y": 12, "W,W1,w,a": 19, "W,W1,w,y": 9, "W,W2,m,a": 2,
    "W,W2,w,y": 5,
}  # fmt: skip
# Kreis and Region of Gemeinden that no table has: 1 and 2 are p and q, 3 and 4 are r and u.
REGIONS = {
    f"{kreis},{region},{size}": 1 if (kreis, size) == ("1", "s") else 5 + place % 3
    for place, (kreis, region) in enumerate(["1p", "1q", "2p", "2q", "3r", "3u", "4r", "4u"])
    for size in "st"
}
# Each Land counts its Kreise from 1 on; the type of one is known by Land and number together.
TYPES = {"N1x": (9, 5), "N2y": (4, 8), "N3y": (7, 7), "S1y": (6, 9), "S2x": (2, 6), "S3y": (8, 5), "W1y": (5, 7),
         "W2y": (9, 4), "W3x": (6, 8)}  # fmt: skip
NUMBERED = {
    ",".join((*unit, size)): count for unit, counts in TYPES.items() for size, count in zip("st", counts, strict=True)
}
# Kreis, Region and type of Gemeinden: Kreis 2 is Regionen p and q without type Y, as only three tables show together.
THREE = {
    f"{gem},{kreis},{region},{kind},{size},{branch}": count
    for place, (gem, kreis, region, kind) in enumerate(["a2pX", "b2qX", "c3pY", "d4qY", "e3rX", "f4rX"])
    for size in "st"
    for branch, count in (("A", 1 if kreis + size == "2s" else 4 + place), ("B", 0 if kreis + size == "2s" else 3))
    if count
}
# Of Kreis and Gemeinde: Land, type, and postcodes that half of a Gemeinde shares with others of its Kreis.
POSTCODES = {
    f"{land},{kreis},{gem},{kind},{plz},{size}": part
    for (land, kreis, kind, gem, size), count in ((record.split(","), count) for record, count in CHAIN.items())
    for plz, part in (("opq"[int(kreis) - 1], count // 2), ("xyz"[int(kreis) - 1], count - count // 2))
}
# 3 lies in y alone, and 4 and 5 in x, while 1 is in both: what x and y have in q discloses 3 to 5 there.
WITHIN = {"1,x,r": 20, "1,y,r": 20, "3,y,q": 10, "3,y,r": 30, "4,x,q": 1, "4,x,r": 30, "5,x,q": 40, "5,x,r": 50}
# All of N and u is r, and of S and u q, though none of these codes determines another: N, v and q is left.
CROSSED = {"N,p,v": 120, "N,q,v": 2, "N,r,u": 60, "S,p,v": 150, "S,q,u": 70, "S,r,v": 80}


def determined_by_three():
    draw = random.Random(3)
    units = list(product("AB", "12", "mf"))
    kinds = {unit: "xy"[place % 3 % 2] for place, unit in enumerate(draw.sample(units, len(units)))}
    counts = {f"{','.join(unit)},{kind},{size}": draw.randint(4, 9) for unit, kind in kinds.items() for size in "st"}
    return counts | {next(own for own in counts if ",x,s" in own): 1}


def at_random(seed):
    """A unit is of one type or of several, and some types have units of their own alone."""
    draw = random.Random(seed)
    counts = {}
    for unit in "abcdefgh"[: draw.randint(4, 8)]:
        for kind in draw.sample("xyz", draw.choice([1, 1, 2])):
            for size in "stu":
                counts[f"{unit},{kind},{draw.choice('mn')},{size}"] = draw.choice([1, 2, 9, 12, 15, 30])
    return counts


SURVEYS = {
    "places": ("land kreis typ gem size", GEOGRAPHY),
    "chain": ("land kreis typ gem size", CHAIN),
    "chain, one wrong": ("land kreis typ gem size", CHAIN | {"N,2,u,a,t": 1}),
    "branches": ("gem kreis land branch sector", BRANCHES),
    "years": ("year gem kreis land branch sector", {f"2024,{record}": count for record, count in BRANCHES.items()}),
    "parts": ("part land kreis gem size", PARTS),
    "parts, one wrong": ("part land kreis gem size", PARTS | {"A,N,1,g5,t": 1}),
    "parts, one alone": ("part land kreis gem size", PARTS | {"A,N,1,g5,u": 1}),
    "ages": ("land kreis sex age", AGES),
    "regions": ("kreis region size", REGIONS),
    "numbered": ("land kreis typ size", NUMBERED),
    "three": ("gem kreis region typ size branch", THREE),
    "postcodes": ("land kreis gem typ plz size", POSTCODES),
    "within": ("kreis typ size", WITHIN),
    "crossed": ("land size risk", CROSSED),
    "by three": ("a b c kind size", determined_by_three()),
    **{f"random {seed}": ("unit kind sort size", at_random(seed)) for seed in range(6)},
}
# A survey, and the dimensions of its tables: columns, levels joined by a slash; an asterisk marks a hierarchy.
CASES = {
    "types of a Kreis": ("places", "gem size", "kreis typ size"),
    "a Kreis and its Land": ("chain", "gem size", "land kreis size"),
    "each finer in something": ("branches", "gem sector", "kreis branch"),
    "levels of one": ("branches", "land/gem sector", "kreis branch"),
    "levels of both": ("branches", "land/gem sector", "kreis sector/branch"),
    "a third that is coarse": ("branches", "gem sector", "kreis branch", "land sector"),
    "another order": ("places", "gem size", "size kreis"),
    "another order of both": ("branches", "gem sector", "branch kreis"),
    "one more variable": ("years", "gem year sector", "kreis branch"),
    "flat columns": ("parts", "gem size", "kreis size"),
    "a part of several units": ("parts", "gem* size", "part size"),
    "lower levels": ("parts", "kreis/gem size", "land size"),
    "levels that differ": ("parts", "land/gem size", "land/kreis size"),
    "levels and a hierarchy": ("parts", "land/kreis size", "gem* size"),
    "levels and their column": ("ages", "land/kreis sex", "land sex age"),
    "levels and a level of its own": ("ages", "land/kreis sex", "land/kreis/age sex"),
    "units of a third column": ("regions", "kreis size", "region size"),
    "two columns determine a third": ("numbered", "land kreis size", "typ size"),
    "a hierarchy and its level": ("ages", "kreis* sex", "land sex"),
    "postcodes of a Kreis": ("postcodes", "gem size", "plz size", "kreis size"),
    "codes within one of another column": ("within", "typ size", "kreis size"),
    "combinations within one of another column": ("crossed", "land risk", "size risk"),
    "three columns determine a fourth": ("by three", "a b c size", "kind size"),
    **{f"at random {seed}": (f"random {seed}", "unit size", "kind size", "kind sort") for seed in range(6)},
    "three together": ("three", "gem branch", "kreis size", "region size", "typ size"),
    "a wrong record": ("parts, one wrong", "gem size", "kreis size"),
    "a wrong record of its own cells": ("parts, one alone", "gem size", "kreis size"),
    "a wrong record that a table shows": ("chain, one wrong", "gem kreis size", "kreis size", "land size"),
}


def wide_codes(case):
    """For each column with a hierarchy, the codes below those of its levels."""
    survey, *tables = case
    names, records = SURVEYS[survey][0].split(), [record.split(",") for record in SURVEYS[survey][1]]
    wide = {}
    for name in {name.rstrip("*") for table in tables for name in table.split() if "*" in name}:
        for record in records:
            for code in record:
                wide.setdefault(name, {}).setdefault(code, set()).add(record[names.index(name)])
    return wide


def cells_of(names, counts, tables, total="Total"):
    """The cells of tables: which records each covers, and the text that is published of it.

    Args:
        names: The columns of the records.
        counts: The records, with commas between their codes.
        tables: Of each table its rows, codes by column with a text, and by column the codes that cover others.
    """
    records = [dict(zip(names, record.split(","), strict=True)) for record in counts]
    for rows, wide in tables:
        for codes, text in rows:
            covers = {name: wide.get(name, {}).get(code, {code}) for name, code in codes.items() if code != total}
            yield np.array([all(one[name] in own for name, own in covers.items()) for one in records], float), text


def disclosed(names, counts, tables, total="Total"):
    """The cells of one or two records that tables together disclose to less than 1."""
    amounts, cells = np.array(list(counts.values()), float), list(cells_of(names, counts, tables, total))
    sums = np.array([cell for cell, text in cells if text.isdigit()])
    sensitive = [cell for cell, text in cells if 0 < cell @ amounts < 3]
    assert sensitive, "a survey without sensitive cells shows nothing"
    ends = [[linprog(sign * cell, A_eq=sums, b_eq=sums @ amounts).fun for sign in (1, -1)] for cell in sensitive]
    return [cell for cell, (low, high) in zip(sensitive, ends, strict=True) if -high - low < 1 - 1e-6]
