#!/usr/bin/env python3
"""Draws what ladder.py --json recorded, and prints it as a Markdown table.

    chart.py ladder.json -o ladder.svg > ladder.md

The picture has a row for each scenario and a dot for each peer: how many times as long as garner it took, on a
logarithmic scale. A dot left of the line was faster than garner. Times are medians over the rounds.
"""
import argparse, json, math, statistics

COLOURS = {"numpy": "#4269d0", "torch": "#ff725c", "onnxruntime": "#9c6b4e", "openvino": "#6cc5b0",
           "tensorflow": "#efb118", "jax": "#a463f2"}
NAMES = {"numpy": "NumPy", "torch": "PyTorch", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO",
         "tensorflow": "TensorFlow", "jax": "JAX"}


def times(entry):
    """The median of each one's medians, ns; without those whose answer differs from NumPy's."""
    rounds, result = entry["rounds"], {}
    truth = rounds[0].get("numpy", {}).get("crc32")
    for name in list(COLOURS) + ["garner"]:
        t = [g[name]["median_ns"] for g in rounds if "median_ns" in g.get(name, {})]
        if t and all(truth in (None, g[name].get("crc32")) for g in rounds if name in g):
            result[name] = statistics.median(t)
    return result


def duration(ns):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def table(record):
    threads = sorted({e["threads"] for e in record})
    head = "| scenario |" + "".join(f" garner, {t} thread{'s' * (t > 1)} | fastest peer | ratio |" for t in threads)
    lines = [head, "|---|" + "---:|---|---:|" * len(threads)]
    for name in dict.fromkeys(e["scenario"] for e in record):
        cells = [name]
        for t in threads:
            e = next((e for e in record if (e["scenario"], e["threads"]) == (name, t)), None)
            if not e or not e["ratio"]:
                cells += ["", "", ""]
                continue
            found = times(e)
            peer = min((n for n in found if n != "garner"), key=found.get)
            cells += [duration(found["garner"]), f"{NAMES[peer]} {duration(found[peer])}", f"{e['ratio']:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    means = [f"**{statistics.geometric_mean(e['ratio'] for e in record if e['threads'] == t and e['ratio']):.2f}**" for t in threads]
    lines.append("| geometric mean |" + "".join(f" | | {m} |" for m in means))
    return "\n".join(lines)


def picture(record):
    threads = sorted({e["threads"] for e in record})
    names = list(dict.fromkeys(e["scenario"] for e in record))
    left, wide, row, top, gap = 190, 340, 17, 62, 40
    low, high = -0.5, 2.5  # powers of ten; what is further stands at the edge
    width, height = left + len(threads) * (wide + gap), top + row * len(names) + 44
    x = lambda panel, v: left + panel * (wide + gap) + (min(max(math.log10(v), low), high) - low) / (high - low) * wide
    s = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12">',
         "<title>How many times as long as garner others take</title>",
         f'<rect width="{width}" height="{height}" fill="#fff"/>']
    at = left
    for peer, colour in COLOURS.items():
        s.append(f'<circle cx="{at}" cy="14" r="4.5" fill="{colour}"/><text x="{at + 9}" y="18">{NAMES[peer]}</text>')
        at += 24 + 7 * len(NAMES[peer]) + 12
    bottom = top + row * len(names)
    for i, t in enumerate(threads):
        s.append(f'<text x="{x(i, 10 ** low)}" y="42" font-weight="600">{t} thread{"s" * (t > 1)}</text>')
        for v in (0.5, 1, 2, 5, 10, 20, 50, 100, 200):
            strong = v == 1
            s.append(f'<line x1="{x(i, v):.1f}" x2="{x(i, v):.1f}" y1="{top - 8}" y2="{bottom}" stroke="{"#111" if strong else "#e3e3e3"}" '
                     f'stroke-width="{1.5 if strong else 1}"/>')
            s.append(f'<text x="{x(i, v):.1f}" y="{bottom + 15}" text-anchor="middle" fill="#555">{v}</text>')
        s.append(f'<text x="{x(i, 10 ** ((low + high) / 2)):.1f}" y="{bottom + 33}" text-anchor="middle" fill="#555">times garner\'s time</text>')
        for j, name in enumerate(names):
            y = top + row * j + row / 2
            if i == 0:
                s.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{name}</text>')
            e = next((e for e in record if (e["scenario"], e["threads"]) == (name, t)), None)
            found = times(e) if e else {}
            s.append(f'<line x1="{x(i, 10 ** low)}" x2="{x(i, 10 ** high)}" y1="{y}" y2="{y}" stroke="#f0f0f0"/>')
            for peer in COLOURS:
                if peer in found and "garner" in found:
                    ratio = found[peer] / found["garner"]
                    s.append(f'<circle cx="{x(i, ratio):.1f}" cy="{y}" r="4.5" fill="{COLOURS[peer]}" fill-opacity=".85">'
                             f"<title>{name}, {NAMES[peer]}: {ratio:.2f} times garner's {duration(found['garner'])}</title></circle>")
    s.append("</svg>")
    return "\n".join(s) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("record", help="what ladder.py --json wrote")
    p.add_argument("-o", "--output", help="the picture")
    a = p.parse_args()
    with open(a.record) as f:
        record = json.load(f)
    print(table(record))
    if a.output:
        with open(a.output, "w") as f:
            f.write(picture(record))


if __name__ == "__main__":
    main()
