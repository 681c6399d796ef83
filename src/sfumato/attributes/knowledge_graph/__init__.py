"""Knowledge graphs: configurations, ontologies and data documents in JSON-LD or Turtle, read with rdflib."""
