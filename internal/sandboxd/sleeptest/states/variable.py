kept = {"answer": 41}
# asleep
kept["answer"] + 1 == 42
