"""Makes 64 parts of a gather on the workers of a Dask cluster, which all mount the working folder."""
import os, subprocess
from dask.distributed import Client

def part(k, folder, parts):
    subprocess.run(["garner", "gather", "table.npy", "ids.npy", "-o", "rows-{part}-of-{parts}.npy", "--part", f"{k + 1}/{parts}", "--resume"], cwd=folder, check=True)

client = Client(os.environ.get("DASK_SCHEDULER"))
client.gather(client.map(part, range(64), folder=os.getcwd(), parts=64, retries=3))
