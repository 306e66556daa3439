"""Other tools that answer questions like ours, where the user has them.

Nothing of theirs is kept here. Each is a checkout or an installed package in an environment of its own, which options
or environment variables name (`places`); small scripts (`drivers`) run under its Python, ask it, and print the seconds
of the processor from the loaded question to the answer. Those that are not there are left out, with a note.
"""
