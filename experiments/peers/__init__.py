"""The same job done by other tools: `make peers`.

python -m experiments.peers                  install them, run them all, write the table
python -m experiments.peers opendp tumult    some of them; the results of the others are kept
python -m experiments.peers --table          write the table again from results/peers/results.json

Each tool is installed into an environment of its own under results/peers.
"""
