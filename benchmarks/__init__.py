"""Speed as ratios within one run, as machines differ, and even one machine from hour to hour.

python -m benchmarks                 all except the 100-million-row file
python -m benchmarks --big           that file too (a minute to make, 1.1 GB)
python -m benchmarks mechanism       one part
"""
