"""Vocabulary of configuration graphs (IRIs), and short names of resources."""

from urllib.parse import unquote

SOYA = "https://w3id.org/soya/ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
PREFIXES = f"PREFIX rdfs: <{RDFS}> PREFIX owl: <{OWL}> PREFIX rdf: <{RDF}> PREFIX soya: <{SOYA}> "


def local_name(iri: str) -> str:
    """Return the last part of an address.

    >>> local_name("https://w3id.org/soya/ns#masking"), local_name("https://example.org/a/Stra%C3%9Fe")
    ('masking', 'Straße')
    """
    trimmed = iri.rstrip("/#")
    for mark in "#/":
        if mark in trimmed:
            trimmed = trimmed.rsplit(mark, 1)[1]
            break
    return unquote(trimmed)
