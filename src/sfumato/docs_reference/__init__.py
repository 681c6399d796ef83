"""Documentation pages that are generated from the code: plans, commands, REST requests, library names, glossary."""
