"""Results that are kept by a key."""

from attention_core.kept import kept_by_key


def test_a_result_is_made_once_for_a_key_and_forgets_what_it_was_made_from():
    made = []

    @kept_by_key(2)
    def doubled(number):
        made.append(number)
        return 2 * number

    assert [doubled(key, key) for key in (1, 2, 1, 3, 2)] == [2, 4, 2, 6, 4]
    assert made == [1, 2, 3, 2], "two are kept: the third drove out 2"
