"""Tests of tests/semantics that say something about eager mode only, by name, with the reason.

A name with brackets is one case of a test.
"""

KEEPS = "a graph keeps its tensors: programs are cut from it later"
SHAPES = "XLA needs to know the shape of a result while it compiles"
BOTH = "both branches are traced, and only the run decides between them"
THREAD = "a trace belongs to the thread that runs the Python function"
TEXT = "a symbolic tensor has no values to show"
RANGE = "an index that only the run knows is clipped to the range, not refused"
LONG = "a chain of this length is not what to write for XLA: tf.scan is"

EAGER_ONLY = {
    "test_D4_a_plain_tape_holds_intermediates_until_gradient": KEEPS,
    "test_D5_a_persistent_tape_holds_intermediates_until_deleted": KEEPS,
    "test_I3_numpy_function_is_not_differentiable": SHAPES,
    "test_I3_py_function_is_differentiable": SHAPES,
    "test_I6_piecewise_constant_operations_give_none[range]": SHAPES,
    "test_I6_also_as_the_target_itself[range]": SHAPES,
    "test_I8_no_gradient_is_a_lookup_error[unique]": SHAPES,
    "test_I9_harmless_if_the_target_does_not_depend_on_it[unique]": SHAPES,
    "test_J4_cond_runs_one_branch": BOTH,
    "test_J4_case_exclusive_and_without_default": "a check raises when the program runs",
    "test_J4_cond_returns_what_the_branch_returns": BOTH,
    "test_J5_while_loop_may_change_shapes": SHAPES,
    "test_J6_foldl_and_foldr": SHAPES,
    "test_M5_without_pfor_a_persistent_tape_is_needed": "only eagerly, says the statement",
    "test_N7_without_pfor_a_persistent_tape_is_needed": "only eagerly, as in M5",
    "test_P3_a_tape_records_only_its_own_thread": THREAD,
    "test_P4_tapes_in_several_threads_at_once": THREAD,
    "test_P5_gradient_may_be_called_in_another_thread": THREAD,
    "test_W14_repr_and_str": TEXT,
    "test_W14_repr_and_str_of_a_scalar": TEXT,
    "test_W14_values_of_several_lines_begin_on_a_line_of_their_own": TEXT,
    "test_Y7_executing_eagerly": "it is about being outside",
    "test_Y11_set_seed_makes_sequences_reproducible": "a seed is set for the calls to come",
    "test_a_chain_of_100_000_operations": LONG,
    "test_a_size_in_a_list_may_be_a_floating_tensor": SHAPES,
    "test_a_seed_that_is_a_float": "a seed is set for the calls to come",
    "test_python_functions_by_decorators": SHAPES,
    "test_strings_are_joined_by_plus": "text is a constant of a program, and no variable of it",
    "test_a_long_chain_differentiated_twice": LONG,
    "test_a_long_chain_is_dropped_without_recursion": LONG,
    "test_a_pickled_variable_comes_back_as_another_one": TEXT,
    "test_a_tensor_in_an_f_string_is_its_bare_value": TEXT,
    "test_a_training_loop_leaves_no_objects_behind": KEEPS,
    "test_asking_a_recording_persistent_tape_from_another_thread": THREAD,
    "test_everything_is_freed_without_the_collector": KEEPS,
    "test_no_update_is_lost_between_threads": THREAD,
    "test_updates_outside_of_a_variable_or_of_another_shape[scatter_sub-args0]": RANGE,
    "test_updates_outside_of_a_variable_or_of_another_shape[scatter_update-args1]": RANGE,
}
