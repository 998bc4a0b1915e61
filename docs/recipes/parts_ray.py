"""Makes 64 parts of a gather on the nodes of a Ray cluster, which all mount the working folder."""
import os, subprocess, ray

@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)
def part(folder, k, parts):
    subprocess.run(["garner", "gather", "table.npy", "ids.npy", "-o", "rows-{part}-of-{parts}.npy", "--part", f"{k}/{parts}", "--resume"], cwd=folder, check=True)

ray.init()
ray.get([part.remote(os.getcwd(), k + 1, 64) for k in range(64)])
