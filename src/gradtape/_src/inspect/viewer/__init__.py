"""The viewer: a computation as a picture, on a page of its own or in a text.

`picture.py` says what a picture is: boxes, edges, groups. `of_tape.py` and `of_function.py` make
one of a tape and of a function, the latter with the help of `hlo.py`; `numbers_of.py` describes
values. `grouping.py` puts boxes into groups, and folds loops; `layered.py` decides what stands
above and beside what. `page.py` writes the HTML page, whose program is `page.js`; `svg.py` and
`texts.py` write what has no program. `drawing.py` is what a tape and a function call.
"""
