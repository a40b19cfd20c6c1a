# SPDX-License-Identifier: GPL-2.0-only
"""
The netlink specification, the header and the module's tables agree.

The compiler evaluates the numbers of the header, and those that follow from the specification by
the rules of YNL: prefixes of names, and each value one more than the previous. The module's tables
are preprocessed and parsed.
"""
import re
import subprocess
import sys

import yaml

SPEC = 'include/netlink/specs/jetwatt.yaml'
HEADER = 'include/uapi/linux/jetwatt.h'
TABLES = 'kmod/interface/netlink_family.c'


def c_name(*words):
    return '_'.join(words).upper().replace('-', '_')


def numbered(entries, start):
    """Return (name, number) of each entry, numbered as YNL does."""
    value = start
    for entry in entries:
        if isinstance(entry, str):
            entry = {'name': entry}
        value = entry.get('value', value)
        yield entry['name'], value
        value += 1


def expected(spec):
    """Return every name that the specification defines, with its number."""
    family = spec['name']
    for d in spec['definitions']:
        if d['type'] == 'const':
            yield c_name(family, d['name']), d['value']
        elif d['type'] == 'enum':
            for name, value in numbered(d['entries'], d.get('value-start', 0)):
                yield c_name(family, d['name'], name), value
    for s in spec['attribute-sets']:
        for name, value in numbered(s['attributes'], 1):
            yield c_name(family, 'a', s['name'], name), value
        yield c_name(family, 'a', s['name'], 'max'), len(s['attributes'])
    for name, value in numbered(spec['operations']['list'], 1):
        yield c_name(family, 'cmd', name), value
    yield c_name(family, 'cmd', 'max'), len(spec['operations']['list'])


def types(spec):
    """Return every C type that ynl-gen-c expects in the header."""
    family = spec['name']
    for d in spec['definitions']:
        if d['type'] == 'enum':
            yield 'enum ' + d.get('enum-name', f'{family}-{d["name"]}').replace('-', '_')
        elif d['type'] == 'struct':
            yield 'struct ' + d['name'].replace('-', '_')


def in_header(names):
    """Return the value of each name in the compiler and '', or None and its messages."""
    source = f'#include <stdio.h>\n#include "{HEADER}"\nint main(void)\n{{\n'
    source += ''.join(f'\tprintf("{n} %lld\\n", (long long){n});\n' for n in names)
    source += '\treturn 0;\n}\n'
    exe = subprocess.run(['mktemp'], capture_output=True, text=True, check=True).stdout.strip()
    try:
        cc = subprocess.run(['cc', '-x', 'c', '-I.', '-o', exe, '-'], input=source, text=True,
                            capture_output=True)
        if cc.returncode:
            return None, cc.stderr
        out = subprocess.run([exe], capture_output=True, text=True, check=True).stdout
    finally:
        subprocess.run(['rm', '-f', exe])
    return {n: int(v) for n, v in (line.split() for line in out.splitlines())}, ''


def header_names():
    text = re.sub(r'/\*.*?\*/', '', open(HEADER).read(), flags=re.S)
    found = set(re.findall(r'\bJETWATT_(?:A|CMD|SERIES|EVENT|SCOPE|BOX|WAIT)_[A-Z0-9_]+\b', text))
    found |= set(re.findall(r'#define\s+(JETWATT_[A-Z0-9_]+)\s+\d+', text))
    found = {n for n in found if not re.match('JETWATT_SERIES_(ROWS|ID|READER|TYPE)', n)}
    found |= {f'JETWATT_SERIES_{row}' for row in re.findall(r'^\tROW\(([A-Z0-9_]+),', text, re.M)}
    return found


def op_table():
    """Return the module's operations: name -> (admin, do, dump, policy)."""
    text = re.sub(r'/\*.*?\*/', '', open(TABLES).read(), flags=re.S)
    body = re.search(r'struct genl_ops ops\[\] = \{(.*?)\n\};', text, re.S).group(1)
    ops = {}
    for entry in re.findall(r'\{(.*?)\}', body, re.S):
        cmd = re.search(r'\.cmd = (\w+)', entry).group(1)
        policy = re.search(r'\.policy = (\w+)', entry)
        ops[cmd] = ('GENL_ADMIN_PERM' in entry, '.doit' in entry, '.dumpit' in entry,
                    policy.group(1) if policy else 'none_policy')
    return ops


def policies():
    """Return the module's policies: name -> attributes that a request may have."""
    text = re.sub(r'/\*.*?\*/', '', open(TABLES).read(), flags=re.S)
    found = {}
    for name, body in re.findall(r'struct nla_policy (\w+)\[.*?\] = \{(.*?)\n\};', text, re.S):
        found[name] = {}
        for attr, rule in re.findall(r'\[(\w+)\] = (.*?),\n', body + '\n'):
            if 'NLA_REJECT' not in rule:
                found[name][attr] = rule
    return found


class Test:
    def __init__(self, plan):
        self.n = 0
        self.bad = False
        print(f'TAP version 13\n1..{plan}')

    def result(self, name, wrong):
        self.n += 1
        for line in wrong:
            print(f'# {line}')
        print(f'{"not ok" if wrong else "ok"} {self.n} {name}')
        self.bad |= bool(wrong)


def main():
    spec = yaml.safe_load(open(SPEC))
    ops = spec['operations']['list']
    sets = {s['name']: s for s in spec['attribute-sets']}
    want = dict(expected(spec))
    t = Test(9)

    got, complaint = in_header(want)
    if got is None:
        t.result('numbers', complaint.splitlines())
    else:
        t.result('numbers', [f'{n}: specification {v}, header {got[n]}'
                             for n, v in want.items() if got[n] != v])

    text = open(HEADER).read()
    t.result('the header has every enum and structure that ynl-gen-c expects',
             [f'{n} is not in the header' for n in types(spec) if f'\n{n} {{' not in text])

    mcgrps = [g['name'] for g in spec['mcast-groups']['list']]
    named = re.findall(r'#define JETWATT_(?:GENL_NAME|MCGRP_\w+)\s+"(\w+)"', text)
    t.result('everything in the header is in the specification',
             [f'{n} is not in the specification' for n in sorted(header_names() - set(want) -
              {'JETWATT_GENL_VERSION'}) if not n.endswith('_MAX') or n in want] +
             ([] if [spec['name']] + mcgrps == named else [f'family and groups: {named}']))

    comments = dict(re.findall(r'\t(JETWATT_A_\w+)(?: = 1)?,\t*\s/\* (\w+)', text))
    wrong = []
    for s in spec['attribute-sets']:
        for a in s['attributes']:
            name = c_name('jetwatt', 'a', s['name'], a['name'])
            if a['type'] != 'pad' and comments.get(name) != a['type']:
                wrong.append(f'{name}: specification {a["type"]}, header {comments.get(name)}')
    t.result('attribute types agree', wrong)

    used = {}
    for op in ops:
        parts = [op.get('event', {})]
        for how in ('do', 'dump'):
            parts += [op.get(how, {}).get(way, {}) for way in ('request', 'reply')]
        for part in parts:
            used.setdefault(op['attribute-set'], set()).update(part.get('attributes', []))
    t.result('every attribute is in a request, a reply or an event of its set',
             [f'{name}: {a["name"]}' for name, found in used.items() for a in sets[name]['attributes']
              if a['type'] != 'pad' and a['name'] not in found])

    table = op_table()
    wrong = []
    for op in ops:
        name = c_name('jetwatt', 'cmd', op['name'])
        if 'event' in op:
            if name in table:
                wrong.append(f'{name} is an event and has a handler')
            continue
        says = ('admin-perm' in op.get('flags', []), 'do' in op, 'dump' in op)
        if name not in table or table[name][:3] != says:
            wrong.append(f'{name}: (admin, do, dump): specification {says}, '
                         f'module {table.get(name)}')
    wrong += [f'{n} is not in the specification' for n in table if n not in want]
    t.result('flags of the operations agree', wrong)

    rules = policies()
    wrong = []
    checks = []
    for op in ops:
        name = c_name('jetwatt', 'cmd', op['name'])
        how = op.get('do') or op.get('dump') or {}
        takes = how.get('request', {}).get('attributes', [])
        attrs = {a['name']: a for a in sets[op['attribute-set']]['attributes']}
        if name not in table:
            continue
        policy = rules[table[name][3]]
        asked = {c_name('jetwatt', 'a', op['attribute-set'], a): attrs[a] for a in takes}
        if set(policy) != set(asked):
            wrong.append(f'{name}: specification {sorted(asked)}, module {sorted(policy)}')
            continue
        for a, attr in asked.items():
            if f'NLA_{attr["type"].upper()}' not in policy[a]:
                checks.append(f'{a}: specification {attr["type"]}, module {policy[a]}')
            if ('checks' in attr) != ('RANGE' in policy[a]):
                checks.append(f'{a}: specification {attr.get("checks")}, module {policy[a]}')
    t.result('attributes of requests agree', wrong)
    t.result('checks of attributes agree', checks)

    # The module states the bounds of attributes as macros, so the values come from their
    # definitions.
    limits = dict(re.findall(r'#define (JETWATT_B\w+)\s+(\d+)', text + open('kmod/sampler/config.h').read()))
    bounds = {c_name('jetwatt', 'a', 'config', a['name']): a['checks']['max']
              for a in sets['config']['attributes'] if 'checks' in a}
    tables = open(TABLES).read()
    found = {a: int(limits[m]) for a, m in
             re.findall(r'\[(\w+)\] = NLA_POLICY_RANGE\(NLA_U32, 1, (\w+)\)', tables)}
    ranges = dict(re.findall(r'range_validation (\w+) = \{(?: \.min = 1,)? \.max = (\w+) \}', tables))
    found |= {a: int(limits[ranges[r]]) for a, r in
              re.findall(r'\[(\w+)\] = NLA_POLICY_FULL_RANGE\(NLA_U32, &(\w+)\)', tables)}
    t.result('bounds of attributes agree', [] if found == bounds else [f'specification {bounds}, module {found}'])
    return t.bad


if __name__ == '__main__':
    sys.exit(main())
