"""Prints the CloudFormation form of a SAM template, offline: translate.py TEMPLATE.

`sam validate --lint` lets wrong numbers, attributes and keys through that
cfn-lint finds in the translated template.
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

from samtranslator.model.exceptions import InvalidDocumentException  # noqa: E402
from samtranslator.parser.parser import Parser  # noqa: E402
from samtranslator.translator.translator import Translator  # noqa: E402
from samtranslator.yaml_helper import yaml_parse  # noqa: E402


def use_remote_code(template):
    """The translator wants packaged code; where it lies changes nothing that is checked."""
    for resource in template["Resources"].values():
        if resource.get("Type") == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://bucket/key"


def translate(template):
    use_remote_code(template)
    # Without their defaults parameters stay references, so that cfn-lint sees their use.
    parameters = template.get("Parameters", {})
    defaults = {name: spec.pop("Default") for name, spec in parameters.items() if "Default" in spec}
    translated = Translator({}, Parser()).translate(template, {})
    for name, default in defaults.items():
        translated["Parameters"][name]["Default"] = default
    return translated


def main(source):
    try:
        translated = translate(yaml_parse(Path(source).read_text()))
    except InvalidDocumentException as failure:
        for cause in failure.causes:
            print(cause.message, file=sys.stderr)
        return 1
    json.dump(translated, sys.stdout, indent=2)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: translate.py TEMPLATE")
    sys.exit(main(sys.argv[1]))
