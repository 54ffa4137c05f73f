"""Internal: comparison of two models by their synchronous product.

`product` makes one program of two models, whose steps are those that both take alike. `divergence` searches it for a
shortest trace that only one of them allows, and compares states and traces.
"""
