"""Renders the records of an event log as JSON, one a line, in the order of their numbers."""
import json
import sys

import evtx

records = evtx.PyEvtxParser(sys.argv[1]).records_json()
lines = []
while True:
    try:
        record = next(records)
    except StopIteration:
        break
    except RuntimeError as e:
        lines.append((lines[-1][0] if lines else 0, f"error: {e}"))
        continue
    text = json.dumps(json.loads(record["data"]), ensure_ascii=False, separators=(",", ":"))
    lines.append((record["event_record_id"], text))
for _, text in sorted(lines, key=lambda line: line[0]):
    print(text)
