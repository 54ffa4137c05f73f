"""Internal: steps by the evaluator or by machine code, walks made shorter, the first state that differs."""
