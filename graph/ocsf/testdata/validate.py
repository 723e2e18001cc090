"""Reads findings, one a line, and prints what the published schema says against them.

It needs the packages jsonschema and ocsf-json-schema, which has the schema of OCSF 1.1.0.
"""

import json
import sys

from jsonschema import Draft202012Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

schema = OcsfJsonSchemaEmbedded(get_ocsf_schema(version="1.1.0"))
finding_schema = schema.get_class_schema("detection_finding", profiles=["host", "security_control"])
validator = Draft202012Validator(finding_schema)

count = 0
for count, line in enumerate(sys.stdin, 1):
    for error in validator.iter_errors(json.loads(line)):
        print(f"{count}: {error.json_path}: {error.message[:300]}")
print("validated", count)
