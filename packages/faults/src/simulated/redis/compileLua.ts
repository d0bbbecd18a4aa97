import { compileFunction } from 'node:vm';
import luaparse, { type CallExpression, type Expression, type Statement } from 'luaparse';
import type { Keyspace } from './keyspace.ts';
import { functions, listOf, LuaTable, type LuaValue, operators, tableOf, unsupported } from './luaRuntime.ts';
import { integer, type Reply } from './resp.ts';

/** Runs `EVAL script numkeys key… argument…`. */
export function runScript(keys: Keyspace, [, script = '', count, ...rest]: readonly string[]): Reply {
  const keyCount = integer(count);
  const [names, args] = [tableOf(rest.slice(0, keyCount)), tableOf(rest.slice(keyCount))];
  return toReply(compileLua(script)((words) => fromReply(keys.call(words.map(String))), names, args));
}

function fromReply(reply: Reply): LuaValue {
  if (reply === null) return false;
  return typeof reply === 'object' ? tableOf(reply.map(fromReply)) : reply;
}

function toReply(result: LuaValue): Reply {
  if (typeof result === 'string') return result;
  if (typeof result === 'number') return Math.trunc(result);
  if (result instanceof LuaTable) return listOf(result).map(toReply);
  return result === true ? 1 : null;
}

/** Runs a script. Calls commands of Redis as `redis.call` does. */
type LuaScript = (call: (words: readonly LuaValue[]) => LuaValue, keys: LuaTable, args: LuaTable) => LuaValue;

const compiled = new Map<string, LuaScript>();

/**
 * Compiles a script of Redis to a JavaScript function, once. Variables have the same names, and functions return lists.
 * @throws for a script beyond the subset that the scripts of the states and logs use
 */
function compileLua(script: string): LuaScript {
  let run = compiled.get(script);
  if (run === undefined) {
    const options = { luaVersion: '5.1', encodingMode: 'pseudo-latin1' } as const;
    const { body } = luaparse.parse(script, options);
    // The parameters are those that the compiled code uses.
    const main = compileFunction(`${block(body)}return [];`, ['lua', 'functions', 'KEYS', 'ARGV']) as (
      lua: typeof operators,
      all: typeof functions,
      ...args: readonly LuaTable[]
    ) => readonly LuaValue[];
    run = (callRedis, keys, args) => {
      const all = { ...functions, 'redis.call': (...words: LuaValue[]) => [callRedis(words)] };
      return main(operators, all, keys, args)[0];
    };
    compiled.set(script, run);
  }
  return run;
}

const block = (statements: readonly Statement[]): string =>
  statements.map((each) => `${compile(each)}\n`).join('');

const namesOf = (variables: readonly { readonly name: string }[]): string =>
  variables.map(({ name }) => name).join();

function compile(node: Statement): string {
  switch (node.type) {
    case 'LocalStatement':
      return `let [${namesOf(node.variables)}] = [${list(node.init)}];`;
    case 'AssignmentStatement': {
      const [target, ...others] = node.variables;
      const assigned = value(node.init[0]);
      if (target === undefined || others.length > 0) return unsupported('an assignment to several variables');
      if (target.type === 'Identifier') return `${target.name} = ${assigned};`;
      return `lua.assign(${value(target.base)}, ${keyOf(target)}, ${assigned});`;
    }
    case 'CallStatement':
      return `${value(node.expression)};`;
    case 'IfStatement':
      return node.clauses
        .map((clause) => {
          const body = `{ ${block(clause.body)} }`;
          return clause.type === 'ElseClause' ? body : `if (lua.isTrue(${value(clause.condition)})) ${body}`;
        })
        .join(' else ');
    case 'WhileStatement':
      return `while (lua.isTrue(${value(node.condition)})) { ${block(node.body)} }`;
    case 'ForNumericStatement': {
      const bounds = [node.start, node.end, ...(node.step ? [node.step] : [])];
      return `for (let ${node.variable.name} of lua.range(${list(bounds)})) { ${block(node.body)} }`;
    }
    case 'ForGenericStatement': {
      const [iterator] = node.iterators;
      if (iterator?.type !== 'CallExpression' || nameOf(iterator.base) !== 'ipairs')
        return unsupported('`for … in` without `ipairs`');
      const pairs = `lua.pairsOf(${value(iterator.arguments[0])})`;
      return `for (let [${namesOf(node.variables)}] of ${pairs}) { ${block(node.body)} }`;
    }
    case 'BreakStatement':
      return 'break;';
    case 'ReturnStatement':
      return `return [${list(node.arguments)}];`;
    case 'FunctionDeclaration': {
      const { body, identifier, isLocal, parameters } = node;
      const names = parameters.flatMap((each) => (each.type === 'Identifier' ? each.name : []));
      if (!isLocal || identifier?.type !== 'Identifier' || names.length < parameters.length)
        return unsupported('a function that is not local, or has `...`');
      return `let ${identifier.name} = (${names.join()}) => { ${block(body)} return []; };`;
    }
    default:
      return unsupported(node.type);
  }
}

/** The values of expressions: all that the last one returns. */
const list = (expressions: readonly Expression[]): string =>
  expressions
    .map((each, at) =>
      each.type === 'CallExpression' && at === expressions.length - 1 ? `...${call(each)}` : value(each),
    )
    .join(', ');

function value(node: Expression | undefined): string {
  switch (node?.type) {
    case 'StringLiteral':
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return JSON.stringify(node.value);
    case 'NilLiteral':
      return 'undefined';
    case 'Identifier':
      return node.name;
    case 'MemberExpression':
    case 'IndexExpression':
      return `lua.index(${value(node.base)}, ${keyOf(node)})`;
    case 'CallExpression':
      return `${call(node)}[0]`;
    case 'TableConstructorExpression': {
      const items = node.fields.flatMap((each) => (each.type === 'TableValue' ? [each.value] : []));
      const fields = node.fields.map((each) =>
        each.type === 'TableKeyString' ? `${each.key.name}: ${value(each.value)},` : '',
      );
      return `lua.table([${list(items)}], { ${fields.join('')} })`;
    }
    case 'LogicalExpression':
      return `lua.${node.operator}(${value(node.left)}, () => ${value(node.right)})`;
    case 'UnaryExpression':
      if (node.operator === '#') return `lua.length(${value(node.argument)})`;
      if (node.operator === 'not') return `!lua.isTrue(${value(node.argument)})`;
      return unsupported(`the operator ${node.operator}`);
    case 'BinaryExpression':
      return binary(node.operator, value(node.left), value(node.right));
    default:
      return unsupported(node?.type ?? 'a missing value');
  }
}

function binary(operator: string, left: string, right: string): string {
  if ('+-*/'.includes(operator)) return `(lua.number(${left}) ${operator} lua.number(${right}))`;
  if (operator === '==') return `(${left} === ${right})`;
  if (operator === '~=') return `(${left} !== ${right})`;
  if (operator === '..') return `lua.concat(${left}, ${right})`;
  if (['<', '<=', '>', '>='].includes(operator)) return `(lua.compare(${left}, ${right}) ${operator} 0)`;
  return unsupported(`the operator ${operator}`);
}

const keyOf = (node: Extract<Expression, { type: 'IndexExpression' | 'MemberExpression' }>): string =>
  node.type === 'IndexExpression' ? value(node.index) : `"${node.identifier.name}"`;

/** Code that calls a function, and returns its list. */
function call({ arguments: args, base }: CallExpression): string {
  const name = nameOf(base);
  const isLocal = base.type === 'Identifier' && !(name in functions);
  return `${isLocal ? name : `functions["${name}"]`}(${list(args)})`;
}

/** The name of a function, such as `redis.call`. */
function nameOf(node: Expression): string {
  if (node.type === 'Identifier') return node.name;
  return node.type === 'MemberExpression'
    ? `${nameOf(node.base)}.${node.identifier.name}`
    : unsupported('a call of a value');
}
