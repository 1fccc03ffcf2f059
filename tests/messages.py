"""Messages that no browser of ours sends: values of a wrong type for a widget, for tests."""

import json

from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

STRINGS = ("", "x", "nan", "999", "[]", "\x00" * 40)
JSON = (
    "null",
    "[]",
    "7",
    '"x"',
    "{}",
    '{"selection": null}',
    *(
        json.dumps({"selection": {"cell": cell}})
        for cell in ("x", 7, {}, ["x"], [{}], [{"row": "x", "column": None}], [{"row": 1e999}])
    ),
    '{"selection": {"cell": [{"row": NaN, "column": [0]}]}}',
    '{"selection": {"cell": [{"row": -1, "column": 99999}]}}',
    '{"edited_rows": {"0": {"nope": 1}}}',
    '{"edited_rows": {"0": 7}}',
    '{"edited_rows": {"99": {"0": "x"}}}',
    '{"parts": 7}',
)


def wrong_values():
    """Values of every kind that the protocol knows: wrong for most widgets, and right for a few."""
    for each in (True, False):
        yield {"bool_value": each}
        yield {"trigger_value": each}
    for number in (float("nan"), float("inf"), -1.0, 0.5, 1e300):
        yield {"double_value": number}
        yield {"double_array_value": {"data": [number]}}
    for whole in (-1, 0, 7, 2**40):
        yield {"int_value": whole}
        yield {"int_array_value": {"data": [whole]}}
    yield {"double_array_value": {"data": []}}
    yield {"int_array_value": {"data": []}}
    yield {"string_array_value": {"data": []}}
    for text in STRINGS:
        yield {"string_value": text}
        yield {"string_array_value": {"data": [text]}}
    for text in JSON:
        yield {"string_value": text}  # charts and grids send theirs so
        yield {"json_value": text}
        yield {"json_trigger_value": text}


def widget_ids(at):
    """The ids of all widgets that a page has sent, by their keys."""
    found = {}
    stack = [at._tree]
    while stack:
        node = stack.pop()
        stack += getattr(node, "children", {}).values()
        proto = getattr(node, "proto", None)
        if isinstance(id := getattr(proto, "id", None), str) and id.startswith("$$"):
            found[id] = id.rpartition("-")[2]
    return found


def send(at, id, value):
    """One run with this value for a widget, beside those that the others have."""
    return send_all(at, {id: value})


def send_all(at, values):
    """One run with these values for widgets by their ids, beside those that the others have."""
    states = WidgetStates()
    others = at._tree.get_widget_states().widgets
    states.widgets.extend(each for each in others if each.id not in values)
    states.widgets.extend(WidgetState(id=id, **value) for id, value in values.items())
    return at._run(states)


def is_of(type, value):
    """Whether a value is of a type of widgets. Whole numbers pass for decimals."""
    (kind,) = value
    return kind.replace("int_", "double_") == type.replace("int_", "double_")


def value_types(at):
    """In what field of a message each widget's value stands, by the widgets' ids."""
    known = at.session_state._state._state._new_widget_state.widget_metadata
    return {id: known[id].value_type for id in widget_ids(at) if id in known}
