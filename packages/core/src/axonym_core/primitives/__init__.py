"""The primitives, by family. Rules for them stand in modules of the same names elsewhere."""
