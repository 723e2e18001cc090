module github.com/sluicehq/sluice/graph/alert/bundle/markdowntest

go 1.26.0

replace github.com/sluicehq/sluice => ../../../..

require github.com/sluicehq/sluice v0.0.0-00010101000000-000000000000

require github.com/yuin/goldmark v1.8.7
