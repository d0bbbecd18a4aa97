/** A module hook logs which functions of `packages/gateway/src` are entered. `node --import` loads it before these. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

/** A node of the syntax tree, with the members that some kinds of nodes have. */
interface Node extends Readonly<Partial<Record<'id' | 'key' | 'init' | 'value' | 'body', Node | null>>> {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
}

const source = new URL('../../src/', import.meta.url);
/** Each as `file: name`, after what it is declared in, such as `createGateway.handle.callback`. */
const functions: string[] = [];
let entered: string[] | undefined;

/** Starts the log. The returned function ends it and returns the functions that were entered, in order. */
export function startCallLog(): () => readonly string[] {
  const log: string[] = [];
  entered = log;
  return () => {
    entered = undefined;
    return log;
  };
}

Object.assign(globalThis, { logCall: (index: number) => entered?.push(functions[index] ?? '') });

registerHooks({
  load: (url, context, nextLoad) =>
    url.startsWith(source.href)
      ? { format: 'module-typescript', shortCircuit: true, source: withCallLog(fileURLToPath(url)) }
      : nextLoad(url, context),
});

/** Returns the code of a file with a call of the log at the head of each function. No line changes its number. */
function withCallLog(path: string): string {
  const file = relative(fileURLToPath(source), path);
  const code = readFileSync(path, 'utf8');
  const insertions: (readonly [at: number, text: string])[] = [];

  /** `isNamed`: the node is the value of a variable, a property or a method, and so has its name. */
  function visit(node: unknown, outer: readonly string[], isNamed: boolean): void {
    if (Array.isArray(node)) for (const item of node) visit(item, outer, false);
    if (!isNode(node)) return;
    const { id, key, init, value, body } = node;
    const isFunction = /^(Function|ArrowFunction)/.test(node.type);
    const name = id?.name ?? key?.name ?? (isFunction && !isNamed ? 'callback' : undefined);
    const names =
      name === undefined ? outer : [...outer, key?.type === 'PrivateIdentifier' ? `#${name}` : name];
    if (isFunction && body) {
      const call = `logCall(${functions.push(`${file}: ${names.join('.')}`) - 1})`;
      if (/(BlockStatement|FunctionBody)$/.test(body.type)) insertions.push([body.start + 1, `${call};`]);
      else insertions.push([body.start, `(${call},`], [body.end, ')']);
    }
    for (const child of Object.values(node)) visit(child, names, child === (init ?? value));
  }

  visit(parseSync(file, code).program, [], false);
  let result = '';
  let end = 0;
  for (const [at, text] of insertions.toSorted(([a], [b]) => a - b)) {
    result += code.slice(end, at) + text;
    end = at;
  }
  return result + code.slice(end);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
