def doc_of(graph): return ""
def write(output): pass
