// The path is a name only: use a replace directive with the directory where this is.
module example.org/fairsem

go 1.18
