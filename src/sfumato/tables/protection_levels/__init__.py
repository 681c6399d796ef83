"""Protection levels of sensitive cells, and checking a suppression pattern against them."""
