"""What hypothesis draws for more than one test file."""

from hypothesis import strategies as st

base_types = st.sampled_from(
    [
        *("float", "double", "int", "unsigned int", "long long", "bool", "__half", "S"),
        *("float4", "void", "cuda::std::complex<float>", "ns::P<int, float const*>"),
    ]
)


pointers = st.lists(st.sampled_from(["*", " const*"]), min_size=1, max_size=3)
demangled_types = st.builds(
    lambda base, stars: base + "".join(stars), base_types, pointers
)
