"""Every number that the five notebooks print, and how each is computed again, both as data: a file
for each notebook, and a line of `recipes.toml` for each number, for the marks on the pages and
`python -m attention_core.published`. For a further result add its line; for a new kind of trace a
builder to `building.BUILDERS`; for a new way to read one a function to `functions.py`. Imports no
torch.
"""
