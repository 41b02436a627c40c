"""The paper's evaluation: PCR against contribution bounds, on the paper's sets and on others.

python -m experiments                            everything, into results/paper
python -m experiments --quick                    a tenth of the users, three trials, small files
python -m experiments wikipedia reddit-full      some of the sets
python -m experiments --file wikipedia=wikipedia_abstracts.pkl    a set's real file
python -m experiments --data FOLDER              also every Parquet file there with user and item
python -m experiments --selection sips           another partition selection for Plume
"""
