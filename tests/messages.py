"""Messages to widgets by their ids, as a browser sends them, for tests."""

from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates


def widget_ids(at):
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
    return send_all(at, {id: value})


def send_all(at, values):
    states = WidgetStates()
    others = at._tree.get_widget_states().widgets
    states.widgets.extend(each for each in others if each.id not in values)
    states.widgets.extend(WidgetState(id=id, **value) for id, value in values.items())
    return at._run(states)
