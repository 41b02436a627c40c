"""What it takes, as ratios within one run: machines differ, and the same one from hour to hour.

python -m benchmarks                 all but the 100-million-row file
python -m benchmarks --big           that too (a minute to make, 1.1 GB)
python -m benchmarks mechanism       one part
"""
