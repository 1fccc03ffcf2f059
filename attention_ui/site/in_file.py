"""What a lesson says of the app alone, and what is said instead where it is a file."""

INSTEAD = {
    # Numbers that only the app changes.
    "Click a number to change it.": "In the app, you can change each number.",
    "So can you: click a number.": "So can you, in the app.",
    "; click another to move that one.": "; in the app, a click chooses another.",
    " Type others.": "",
    "Type one of them above: until its bytes": "Until its bytes",
    "Type a text, and see which": "In the app, type a text, and see which",
    "Type a text of its": "In the app, type a text of its",
    "Type a text, cut into": "In the app, type a text, cut into",
    # Places that only the app has.
    "That is why the program below writes": "That is why the program that the app gives you writes",
    "The width is in the sidebar, as is a seed that counts; the": "In the app, you choose the "
    "width and the seed; the",
    " (its slider stands in the sidebar)": "",
    "raise `d_in` in the sidebar.": "the app has the control `d_in`.",
    "raise d_in in the sidebar.": "the app has the control d_in.",
    "Drop blanks with the switch in the sidebar.": "In the app, a switch drops the blanks.",
    "The magnifying glass above the table searches it; a double click shows": "A table in the "
    "app can be searched, and shows",
    "*Share* gives a class the link to this round.": "In the app, *Share* gives a class the link "
    "to this round.",
}
"""By what a lesson says. A file has no sidebar and no program, and takes no text or number."""


def in_file(words: str) -> str:
    """The words of a lesson as they are true in a file."""
    for each, other in INSTEAD.items():
        words = words.replace(each, other)
    return words
