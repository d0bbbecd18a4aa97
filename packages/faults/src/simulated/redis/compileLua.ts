import { compileFunction } from 'node:vm';
import luaparse, {
  type CallExpression,
  type Expression,
  type FunctionDeclaration,
  type Statement,
} from 'luaparse';
import { toBytes } from './bytes.ts';
import { luaRuntime, type LuaTable, type LuaValue, unsupported } from './luaRuntime.ts';

/** Runs a script. Calls commands of Redis as `redis.call` does. */
export type LuaScript = (
  call: (...words: LuaValue[]) => LuaValue,
  keys: LuaTable,
  args: LuaTable,
) => LuaValue;

const compiled = new Map<string, LuaScript>();

/**
 * Compiles a script of Redis to a JavaScript function, once.
 * @throws for a script beyond the subset that the scripts of the states and logs use
 */
export function compileLua(script: string): LuaScript {
  let run = compiled.get(script);
  if (run === undefined) {
    const options = { luaVersion: '5.1', encodingMode: 'pseudo-latin1' } as const;
    const { body } = luaparse.parse(toBytes(script), options);
    const code = `${new Compiler().block(body)}return [];`;
    // The parameters are those that the compiler writes calls of.
    const main = compileFunction(code, ['lua', 'call', 'KEYS', 'ARGV']) as (
      lua: typeof luaRuntime,
      ...args: Parameters<LuaScript>
    ) => readonly LuaValue[];
    run = (...args) => main(luaRuntime, ...args)[0];
    compiled.set(script, run);
  }
  return run;
}

/** Functions of Lua that return one value. */
const functions: Readonly<Record<string, string>> = {
  'redis.call': 'call',
  'redis.sha1hex': 'lua.sha1hex',
  tonumber: 'lua.tonumber',
  'string.sub': 'lua.sub',
  'math.floor': 'Math.floor',
  'math.max': 'Math.max',
  'math.min': 'Math.min',
};

/** Regular expressions of the patterns of Lua. */
const patterns: Readonly<Record<string, string>> = {
  'run_id:(%w+)': '/run_id:([A-Za-z0-9]+)/',
  'evicted_keys:(%d+)': '/evicted_keys:([0-9]+)/',
  '(%d+) (.*)': '/([0-9]+) ([^]*)/',
  '%d+': '/[0-9]+/',
};

class Compiler {
  /** Names in JavaScript of the variables of Lua: a scope may declare one twice. */
  readonly #scopes: Map<string, string>[] = [
    new Map([
      ['KEYS', 'KEYS'],
      ['ARGV', 'ARGV'],
    ]),
  ];
  #declared = 0;

  /** @param variables variables of the block, such as parameters */
  block(statements: readonly Statement[], variables = new Map<string, string>()): string {
    this.#scopes.push(variables);
    const code = statements.map((statement) => `${this.#statement(statement)}\n`).join('');
    this.#scopes.pop();
    return code;
  }

  #statement(node: Statement): string {
    switch (node.type) {
      case 'LocalStatement': {
        const { init, variables } = node;
        const values =
          init.length === variables.length
            ? init.map((each) => this.#value(each))
            : [`[${this.#list(init)}]`];
        const names = variables.map(({ name }) => this.#declare(name));
        if (init.length !== names.length) return `let [${names.join()}] = ${values[0]};`;
        return `let ${names.map((name, at) => `${name} = ${values[at]}`).join()};`;
      }
      case 'AssignmentStatement': {
        const [target] = node.variables;
        const value = this.#value(node.init[0]);
        if (node.variables.length > 1 || !target) return unsupported('an assignment to several variables');
        if (target.type === 'Identifier') return `${this.#variable(target.name)} = ${value};`;
        const key =
          target.type === 'IndexExpression' ? this.#value(target.index) : `"${target.identifier.name}"`;
        return `lua.assign(${this.#value(target.base)}, ${key}, ${value});`;
      }
      case 'CallStatement':
        return `${this.#value(node.expression)};`;
      case 'IfStatement':
        return node.clauses
          .map((clause) =>
            clause.type === 'ElseClause'
              ? `{ ${this.block(clause.body)} }`
              : `if (${this.#condition(clause.condition)}) { ${this.block(clause.body)} }`,
          )
          .join(' else ');
      case 'WhileStatement':
        return `while (${this.#condition(node.condition)}) { ${this.block(node.body)} }`;
      case 'ForNumericStatement': {
        const [start, end] = [this.#number(node.start), this.#number(node.end)];
        const step = node.step ? this.#number(node.step) : '1';
        const [at, last, by, name] = ['at', 'last', 'by', 'variable'].map((each) => this.#unique(each));
        const body = this.block(node.body, new Map([[node.variable.name, name ?? '']]));
        const isBefore = `${by} > 0 ? ${at} <= ${last} : ${at} >= ${last}`;
        return `for (let ${at} = ${start}, ${last} = ${end}, ${by} = ${step}; ${isBefore}; ${at} += ${by}) { let ${name} = ${at}; ${body} }`;
      }
      case 'ForGenericStatement':
        return this.#ipairs(node.variables, node.iterators, node.body);
      case 'BreakStatement':
        return 'break;';
      case 'ReturnStatement':
        return `return [${this.#list(node.arguments)}];`;
      case 'FunctionDeclaration':
        return this.#function(node);
      default:
        return unsupported(node.type);
    }
  }

  #ipairs(
    variables: readonly { readonly name: string }[],
    iterators: readonly Expression[],
    body: readonly Statement[],
  ): string {
    const [iterator] = iterators;
    if (iterator?.type !== 'CallExpression' || this.#global(iterator.base) !== 'ipairs')
      return unsupported('`for … in` without `ipairs`');
    const [list, at, key, item] = ['list', 'at', 'key', 'item'].map((each) => this.#unique(each));
    const inner = new Map(variables.map(({ name }, position) => [name, (position === 0 ? key : item) ?? '']));
    const values = `let ${key} = ${at}, ${item} = lua.index(${list}, ${at}); if (${item} === undefined) break;`;
    return `for (let ${list} = ${this.#value(iterator.arguments[0])}, ${at} = 1; ; ${at}++) { ${values} ${this.block(body, inner)} }`;
  }

  #function({ body, identifier, isLocal, parameters }: FunctionDeclaration): string {
    if (!isLocal || identifier?.type !== 'Identifier') return unsupported('a function that is not local');
    const name = this.#declare(identifier.name);
    const names = parameters.map((each) => {
      if (each.type === 'VarargLiteral') return unsupported('a function with `...`');
      return [each.name, this.#unique(each.name)] as const;
    });
    const inner = this.block(body, new Map(names));
    return `let ${name} = (${names.map(([, parameter]) => parameter).join()}) => { ${inner} return []; };`;
  }

  /** The values of expressions: all that the last one returns. */
  #list(expressions: readonly Expression[]): string {
    return expressions
      .map((each, at) => {
        const call = at === expressions.length - 1 && each.type === 'CallExpression' && this.#call(each);
        return call && call.returnsList ? `...${call.code}` : this.#value(each);
      })
      .join(', ');
  }

  #value(node: Expression | undefined): string {
    switch (node?.type) {
      case 'StringLiteral':
      case 'NumericLiteral':
      case 'BooleanLiteral':
        return JSON.stringify(node.value);
      case 'NilLiteral':
        return 'undefined';
      case 'Identifier':
        return this.#variable(node.name);
      case 'MemberExpression':
        return `lua.index(${this.#value(node.base)}, "${node.identifier.name}")`;
      case 'IndexExpression':
        return `lua.index(${this.#value(node.base)}, ${this.#value(node.index)})`;
      case 'CallExpression': {
        const { code, returnsList } = this.#call(node);
        return returnsList ? `${code}[0]` : code;
      }
      case 'TableConstructorExpression': {
        const list = node.fields.flatMap((field) => (field.type === 'TableValue' ? [field.value] : []));
        const fields = node.fields.flatMap((field) => {
          return field.type === 'TableKeyString' ? [`${field.key.name}: ${this.#value(field.value)}`] : [];
        });
        const named = fields.length > 0 ? `, { __proto__: null, ${fields.join()} }` : '';
        return `lua.table([${this.#list(list)}]${named})`;
      }
      case 'LogicalExpression':
        return `lua.${node.operator}(${this.#value(node.left)}, () => ${this.#value(node.right)})`;
      case 'UnaryExpression':
        if (node.operator === '#') return `lua.length(${this.#value(node.argument)})`;
        return node.operator === 'not' ? this.#condition(node) : unsupported(`the operator ${node.operator}`);
      case 'BinaryExpression':
        return this.#binary(node.operator, node.left, node.right);
      default:
        return unsupported(node?.type ?? 'a missing value');
    }
  }

  #binary(operator: string, left: Expression, right: Expression): string {
    if ('+-*/'.includes(operator)) return `(${this.#number(left)} ${operator} ${this.#number(right)})`;
    const [one, other] = [this.#value(left), this.#value(right)];
    if (operator === '==' || operator === '~=')
      return `(${one} ${operator === '==' ? '===' : '!=='} ${other})`;
    if (operator === '..') return `lua.concat(${one}, ${other})`;
    if (operator in luaRuntime) return `lua["${operator}"](${one}, ${other})`;
    return unsupported(`the operator ${operator}`);
  }

  #condition(node: Expression): string {
    if (node.type === 'UnaryExpression' && node.operator === 'not')
      return `!${this.#condition(node.argument)}`;
    if (node.type === 'LogicalExpression')
      return `(${this.#condition(node.left)} ${node.operator === 'and' ? '&&' : '||'} ${this.#condition(node.right)})`;
    return `lua.isTrue(${this.#value(node)})`;
  }

  #number(node: Expression): string {
    return node.type === 'NumericLiteral' ? String(node.value) : `lua.number(${this.#value(node)})`;
  }

  #call({ arguments: args, base }: CallExpression): { readonly code: string; readonly returnsList: boolean } {
    const name = this.#global(base);
    if (name === undefined) return { code: `${this.#value(base)}(${this.#list(args)})`, returnsList: true };
    const [subject, literal] = args;
    if (name === 'unpack') return { code: `lua.unpack(${this.#value(subject)})`, returnsList: true };
    if (name === 'string.match' && literal?.type === 'StringLiteral') {
      const pattern = patterns[literal.value] ?? unsupported(`the pattern ${literal.value}`);
      return { code: `lua.match(${this.#value(subject)}, ${pattern})`, returnsList: true };
    }
    if (name === 'string.format' && subject?.type === 'StringLiteral' && subject.value in luaRuntime)
      return { code: `lua["${subject.value}"](${this.#value(literal)})`, returnsList: false };
    const code = functions[name] ?? unsupported(`the function ${name}`);
    const isMath = code.startsWith('Math.');
    const values = isMath ? args.map((each) => this.#number(each)).join() : this.#list(args);
    return { code: `${code}(${values})`, returnsList: false };
  }

  /** The name of a function of Lua or Redis, unless a local one is called. */
  #global(node: Expression): string | undefined {
    if (node.type === 'Identifier') return this.#find(node.name) === undefined ? node.name : undefined;
    if (node.type !== 'MemberExpression') return unsupported('a call of a value');
    return `${this.#global(node.base)}.${node.identifier.name}`;
  }

  #find(name: string): string | undefined {
    return this.#scopes.findLast((scope) => scope.has(name))?.get(name);
  }

  #variable(name: string): string {
    return this.#find(name) ?? unsupported(`the global variable ${name}`);
  }

  #declare(name: string): string {
    const unique = this.#unique(name);
    this.#scopes.at(-1)?.set(name, unique);
    return unique;
  }

  #unique(name: string): string {
    this.#declared += 1;
    return `${name}_${this.#declared}`;
  }
}
