"""The list of lessons: a table a page, in `contents.toml`."""

from dataclasses import dataclass
from itertools import combinations

from attention_core.utils.toml_file import read_toml
from attention_core.utils.validation import among

from ..reactive.near_names import is_slip


@dataclass(frozen=True)
class Lesson:
    """A page: its file, its title, the one sentence that says its idea, and its place; about how
    many minutes it takes, and the name of the lesson to read before it, where these are known.
    Raises ValueError for other minutes than 0 (not known) or 5 to 12.
    """

    name: str
    title: str
    idea: str
    group: str
    icon: str
    minutes: int = 0
    after: str = ""
    room: str = ""
    """The lesson whose room it shares, where it is another way into the same; "" for its own."""
    way: str = ""
    """What a text has become by its end, where it is the first to come so far."""
    module: str = "lesson"
    """The module of its room that has its controls and its trace."""

    def __post_init__(self) -> None:
        if self.minutes not in (0, *range(5, 13)):
            raise ValueError(
                f"{self.name} takes {self.minutes} minutes, but a lesson takes 5 to 12; leave "
                "`minutes` out where that is not known"
            )

    @property
    def page(self) -> str:
        """The file as Streamlit wants it, from the folder of app.py."""
        return f"pages/{self.name}.py" if self.group else "app.py"


HOME = Lesson("home", "Attention Explorer", "", "", ":material/home:")
LESSONS = [Lesson(name, **each) for name, each in read_toml(__package__, "contents.toml").items()]
GROUPS = [*dict.fromkeys(each.group for each in LESSONS)]
for one, other in combinations(GROUPS, 2):
    if is_slip(one, other):
        raise ValueError(
            f"contents.toml has the groups {one!r} and {other!r}, which differ in one letter: "
            "write both alike"
        )
LESSONS = tuple(sorted(LESSONS, key=lambda each: GROUPS.index(each.group)))
WAY = tuple((each.way, each) for each in LESSONS if each.way)
"""The way of a text through the lessons: what becomes of it, and in which."""
AT_A_GLANCE, FIRST_CHECKED = LESSONS[:2]
"""The map of all lessons, and where a published example opens: where its numbers are printed."""

SECTIONS = {
    "contents": "Contents, previous and next",
    "glossary": "Glossary",
    "pin": "Pin and compare",
    "share": "Share",
    "answers": "What you can now answer",
    "take_away": "Take it with you",
}
"""What a teacher's link can leave out beside controls."""


def lesson(name: str) -> Lesson:
    """A lesson by the name of its file; raises KeyError for one that is not in the list."""
    known = {each.name: each for each in (HOME, *LESSONS)}
    if name not in known:
        raise KeyError(f"contents.toml has no table {name!r}{among(name, known)}")
    return known[name]
