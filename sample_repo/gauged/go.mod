module example.org/tidebook/gauged

go 1.22
