import type { TreeParameter } from '../../operations/parameter.ts';
import type { QueryNode } from '../../operations/queryTree.ts';
import type { InputIssue } from '../../procedures/inputError.ts';
import { depthError } from '../../procedures/jsonDepth.ts';
import { convertText } from './convertText.ts';

/** The values of one name in brackets: its own texts, and its children by the next name in brackets. */
class Branch {
  readonly texts: (string | undefined)[] = [];
  readonly branches = new Map<string, Branch>();
}

type Path = readonly PropertyKey[];
type ListNode = Extract<QueryNode, { kind: 'list' }>;
type ObjectNode = Extract<QueryNode, { kind: 'object' }>;

/** Collects and converts the objects and arrays of a query that are written with brackets: `filter[range][min]=1`. */
export class QueryTrees {
  readonly #maxDepth: number;
  readonly #roots = new Map<TreeParameter, Branch>();

  /** @param maxDepth maximum number of brackets in a name */
  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /**
   * Adds the values of one name.
   * @throws {LimitError} `json-depth`
   */
  add(
    parameter: TreeParameter,
    name: string,
    values: readonly (string | undefined)[],
    issues: InputIssue[],
  ): void {
    const keys = parseBrackets(name.slice(parameter.place.name.length));
    if (keys === undefined) {
      const message = `is written as ${JSON.stringify(name)}, with unbalanced brackets; write it as ${parameter.place.name}[name]`;
      issues.push({ code: 'invalid_key', path: [parameter.field], message });
      return;
    }
    if (keys.length > this.#maxDepth) throw depthError(this.#maxDepth);
    let branch = childOf(this.#roots, parameter);
    for (const key of keys) branch = childOf(branch.branches, key);
    for (const value of values) branch.texts.push(value);
  }

  /** Converts all added values and sets them on the input. */
  convert(input: Record<string, unknown>, issues: InputIssue[]): void {
    for (const [{ field, tree, place }, branch] of this.#roots) {
      // `name=a` without brackets belongs to another style.
      if (tree.kind === 'list' && branch.texts.length > 0) {
        addIssue(issues, [field], `must be written with brackets: ${place.name}[]=…`);
        continue;
      }
      const value = convertBranch(branch, tree, [field], issues);
      if (value !== undefined) input[field] = value;
    }
  }
}

function childOf<Key>(branches: Map<Key, Branch>, key: Key): Branch {
  let child = branches.get(key);
  if (child === undefined) branches.set(key, (child = new Branch()));
  return child;
}

/** Splits `[range][min]` into its keys. `undefined` if the brackets are not balanced. */
function parseBrackets(brackets: string): readonly string[] | undefined {
  if (brackets === '') return [];
  return /^(?:\[[^[\]]*\])+$/.test(brackets) ? brackets.slice(1, -1).split('][') : undefined;
}

const addIssue = (issues: InputIssue[], path: Path, message: string): void => {
  issues.push({ code: 'custom', path, message });
};

function convertBranch(branch: Branch, node: QueryNode, path: Path, issues: InputIssue[]): unknown {
  if (node.kind === 'list') return convertList(branch, node, path, issues);
  if (node.kind === 'object') return convertObject(branch, node, path, issues);
  const { texts, branches } = branch;
  if (branches.size > 0) addIssue(issues, path, `must be ${node.converter.expects}, without brackets`);
  else if (texts.length > 1) addIssue(issues, path, 'must not be sent more than once');
  else return convertText(node.converter, texts[0], path, issues);
  return undefined;
}

/**
 * Converts an object. It may have an own property `__proto__`, as with `JSON.parse`: the schema accepts or rejects it.
 */
function convertObject(
  { texts, branches }: Branch,
  { fields, others, isStrict }: ObjectNode,
  path: Path,
  issues: InputIssue[],
): unknown {
  if (texts.length > 0) {
    addIssue(issues, path, 'must be an object, with the name of each property in brackets');
    return undefined;
  }
  const entries: [name: string, value: unknown][] = [];
  for (const [name, branch] of branches) {
    const node = fields.get(name) ?? others;
    if (node) entries.push([name, convertBranch(branch, node, [...path, name], issues)]);
    else if (isStrict) addIssue(issues, [...path, name], 'is not a property of this object');
  }
  // An object with unknown properties only counts as absent.
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/**
 * Converts a list: `name=a&name=b`, `name[]=a&name[]=b` or `name[1]=b&name[0]=a`. Mixed forms are rejected, since their
 * order is ambiguous.
 */
function convertList(
  { texts, branches }: Branch,
  { item }: ListNode,
  path: Path,
  issues: InputIssue[],
): unknown {
  const unindexed = branches.get('');
  const forms = [texts.length > 0, unindexed !== undefined, branches.size > (unindexed ? 1 : 0)];
  if (forms.filter(Boolean).length > 1) {
    addIssue(issues, path, 'mixes several notations; use [] or indexes for all items');
    return undefined;
  }
  if (texts.length > 0 || unindexed) {
    if (unindexed && unindexed.branches.size > 0) {
      addIssue(issues, path, 'needs an index for each item, such as [0]');
      return undefined;
    }
    return (unindexed?.texts ?? texts).map((text, index) => {
      const single = new Branch();
      single.texts.push(text);
      return convertBranch(single, item, [...path, index], issues);
    });
  }
  const items: unknown[] = [];
  for (let index = 0; index < branches.size; index += 1) {
    const branch = branches.get(String(index));
    if (branch === undefined) {
      addIssue(
        issues,
        path,
        `has ${branches.size} item${branches.size === 1 ? '' : 's'}, but none with the index ${index}; number the items from 0, without gaps`,
      );
      return undefined;
    }
    items.push(convertBranch(branch, item, [...path, index], issues));
  }
  return items;
}
