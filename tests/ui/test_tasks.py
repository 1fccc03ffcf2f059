"""A teacher's tasks: which lesson each names, and the file of answers."""

from html.parser import HTMLParser

import pytest

from attention_ui.controls.shared import TASKS
from attention_ui.frame.tasks import NOBODY, TaskAnswers, answer_page, parted
from chosen import of, read
from sampling import few
from visiting import EVERYWHERE, stands, visit

HOSTILE = '<img src=x onerror=alert(1)> & "quotes" **bold** </pre><script>x</script>'


@pytest.mark.parametrize(("task", "lesson", "words"), [
    ("The causal mask: why 1?", "causal_mask", "why 1?"),
    ("causal mask: why 1?", "causal_mask", "why 1?"),
    ("causal_mask:why 1?", "causal_mask", "why 1?"),
    ("Why divide by √d: say it", "divide_by_sqrt_d", "say it"),
    ("Look closely: why 1?", None, "Look closely: why 1?"),
    ("The causal mask", None, "The causal mask"),
    ("home: go", None, "home: go"),
])  # fmt: skip
def test_a_task_may_name_a_lesson(task, lesson, words):
    found, rest = parted(task)
    assert (found and found.name, rest) == (lesson, words)


def test_lines_come_back_as_they_were_said_without_empty_ones():
    tasks = of(tasks="  One \n\n Two\r\nThree: of it  ").tasks
    assert tasks == ("One", "Two", "Three: of it")
    assert of(tasks=TASKS.field.write(tasks)).tasks == tasks


@pytest.mark.parametrize(("tasks", "said"), [("a\n" * 13, "13"), ("x" * 401, "line 1")])
def test_too_many_or_too_long_are_refused_in_words(tasks, said):
    values, wrong = read(tasks=tasks)
    assert values.tasks == ()
    assert said in str(wrong["tasks"])


class Read(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.links, self.text = set(), [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.text += data


def test_the_file_of_answers_has_all_tasks_and_renders_nothing_that_was_typed():
    link = "http://localhost/causal_mask?sentence=%3Cb%3E&seed=1"
    page = Read(answer_page((HOSTILE, "Second"), TaskAnswers(HOSTILE, {0: (HOSTILE, link)})))
    assert page.tags.isdisjoint({"img", "script", "b"})
    assert page.text.count(HOSTILE) == 3
    assert page.links == [link]
    assert "No answer." in page.text
    assert NOBODY in answer_page(("One",), TaskAnswers(" "))


@pytest.mark.slow("15 s: every page")
@pytest.mark.parametrize("page", few(EVERYWHERE, 2))
def test_tasks_stand_on_every_page_and_are_plain_text(page):
    at = stands(visit(page, tasks=f"{HOSTILE}\nSecond"))
    assert HOSTILE in [each.value for each in at.text]
    assert not any(HOSTILE in each.value for each in at.markdown)
    at.text_area(key="task_0_of_2").input("mine").run()
    at.button(key="task_on").click().run()
    assert "Second" in [each.value for each in at.text]
    at.button(key="task_back").click().run()
    assert at.text_area(key="task_0_of_2").value == "mine"
    at.switch_page("pages/causal_mask.py").run()
    assert stands(at).text_area(key="task_0_of_2").value == "mine"
