"""Run cells of Python for sandboxd, in one process, one after the other.

    kernel    takes requests and answers them
    warm      before the first cell: modules, and random numbers drawn anew
    channel   frames to and from sandboxd
    stdio     descriptors 0, 1, 2 and sys.stdin, sys.stdout, sys.stderr
    interrupt SIGINT
    engine    what a cell means: parse, run, show; with the standard library
    shell     the same with IPython: magics, !cmd, Out, registered formatters
    mime      values and their representations
    figures   open matplotlib figures
    errors    exceptions, as the user is told them

Nothing here is a boundary. A cell can reach all of it and break it; what
isolates is the sandbox, and what sandboxd reads from here it does not trust.
"""
