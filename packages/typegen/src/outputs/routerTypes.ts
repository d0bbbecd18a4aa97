import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  API,
  type Checker,
  SymbolFlags,
  type Symbol as TypeSymbol,
  type Type,
  TypeFlags,
} from 'typescript/unstable/sync';
import { TypegenError } from '../typegenError.ts';

/** What a procedure returns, or each event of a subscription. */
interface ProcedureOutput {
  readonly path: string;
  readonly output: Type;
  readonly isEvent: boolean;
}

interface Procedure {
  readonly path: string;
  /** The property that has the type of its output. */
  readonly symbol: TypeSymbol;
  readonly isEvent: boolean;
}

export interface RouterLocation {
  /** The module that exports it. */
  readonly file: string;
  /** The name of the exported router, or of its type. Default: the only one, or else `default`, `appRouter` or `AppRouter`. */
  readonly name?: string | undefined;
  /** The `tsconfig.json` of the project that has the file. Default: the nearest one that includes it, as in an editor. */
  readonly project?: string | undefined;
}

export interface RouterTypes {
  readonly checker: Checker;
  /** Whether types tell `null` and `undefined` from other values. */
  readonly isStrict: boolean;
  readonly procedures: readonly ProcedureOutput[];
  /** A line for each part of the router whose procedures its type does not name. */
  readonly unread: readonly string[];
}

/**
 * Passes a router's types from the compiler to `use`. The compiler ends when the thread is terminated.
 * @throws {TypegenError} if the file has no router
 */
export function readRouterTypes<Result>(
  { file, name, project: config }: RouterLocation,
  use: (types: RouterTypes) => Result,
): Result {
  const path = resolve(file);
  if (!existsSync(path)) throw new TypegenError(`${file} does not exist. Name the module by its path.`);
  const compiler = new API({});
  const snapshot = compiler.updateSnapshot(
    config === undefined ? { openFiles: [path] } : { openProjects: [resolve(config)] },
  );
  const project =
    config === undefined ? snapshot.getDefaultProjectForFile(path) : snapshot.getProject(resolve(config));
  const source = project?.program.getSourceFile(path);
  if (project === undefined || source === undefined) {
    throw new TypegenError(
      config === undefined
        ? `${file} cannot be read.`
        : `The project ${config} does not include ${file}. Name another one with --project.`,
    );
  }
  const { checker, compilerOptions } = project;
  const exports = checker.getSymbolAtLocation(source);
  const reader = new RouterReader(checker);
  const routers = (exports ? checker.getExportsOfModule(exports) : []).flatMap((symbol) =>
    reader.routerOf(symbol),
  );
  const { record } = choose(routers, file, name);
  const { strict = true, strictNullChecks = strict } = compilerOptions;
  const procedures = reader.outputs(reader.procedures(record));
  return use({ checker, isStrict: strictNullChecks, procedures, unread: reader.unread });
}

interface NamedRouter {
  readonly name: string;
  readonly record: Type;
}

/** @throws {TypegenError} */
function choose(routers: readonly NamedRouter[], file: string, name: string | undefined): NamedRouter {
  const named = (wanted: string) => routers.find((router) => router.name === wanted);
  const usual = () => named('default') ?? named('appRouter') ?? named('AppRouter');
  // A router and its type are one.
  const isOne = new Set(routers.map(({ record }) => record)).size === 1;
  const chosen = name === undefined ? ((isOne ? routers[0] : undefined) ?? usual()) : named(name);
  if (chosen) return chosen;
  // In the words of `findRouter` of the gateway, which is not loaded here.
  const ofName = name === undefined ? '' : ` named ${name}`;
  if (routers.length === 0)
    throw new TypegenError(
      `${file} exports no tRPC router${ofName}. Name the module that exports what t.router({ … }) returns.`,
    );
  const problem = name === undefined ? 'several routers' : `no tRPC router${ofName}`;
  const names = routers.map((router) => router.name).join(', ');
  throw new TypegenError(`${file} exports ${problem}. Choose one of ${names} with --export.`);
}

class RouterReader {
  readonly unread: string[] = [];
  readonly #checker: Checker;

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  /** Returns the router that an export is, or whose type it is. */
  routerOf(exported: TypeSymbol): readonly NamedRouter[] {
    const symbol = exported.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(exported) : exported;
    const type =
      symbol.flags & SymbolFlags.Value
        ? this.#checker.getTypeOfSymbol(symbol)
        : this.#checker.getDeclaredTypeOfSymbol(symbol);
    const record = type && this.#member(type, '_def', 'record');
    return record ? [{ name: exported.name, record }] : [];
  }

  procedures(record: Type, prefix = ''): readonly Procedure[] {
    const at = prefix.slice(0, -1) || 'the router';
    if (record.flags & TypeFlags.Any) {
      const reason = record.isErrorType()
        ? 'the compiler does not find its type, as tsc says too'
        : 'it is any';
      this.unread.push(`${at}: left out, since ${reason}`);
      return [];
    }
    if (this.#checker.getIndexInfosOfType(record).length > 0)
      this.unread.push(`${at}: may have procedures that its type does not name`);
    const symbols = this.#checker.getPropertiesOfType(record);
    const types = this.#checker.getTypeOfSymbol(symbols);
    return symbols.flatMap(({ name }, index) => {
      const type = types[index];
      if (type === undefined) return [];
      const path = prefix + name;
      // `QueryProcedure<{ input, output, … }>` and the others of tRPC.
      const procedure = /^(?:LegacyObservable)?(Query|Mutation|Subscription)Procedure$/;
      const [, kind] = procedure.exec(type.getSymbol()?.name ?? '') ?? [];
      if (kind === undefined)
        return this.procedures(this.#member(type, '_def', 'record') ?? type, `${path}.`);
      const [definition] = type.isTypeReference() ? this.#checker.getTypeArguments(type) : [];
      const symbol = definition && this.#checker.getPropertyOfType(definition, 'output');
      return symbol ? [{ path, symbol, isEvent: kind === 'Subscription' }] : [];
    });
  }

  /** Returns what procedures return: in one question, as each takes some 60 µs. */
  outputs(procedures: readonly Procedure[]): readonly ProcedureOutput[] {
    const types = this.#checker.getTypeOfSymbol(procedures.map(({ symbol }) => symbol));
    return procedures.flatMap(({ path, isEvent }, index) => {
      const output = types[index];
      return output ? [{ path, output: isEvent ? this.#event(output) : output, isEvent }] : [];
    });
  }

  /** Returns the type of what a subscription yields. */
  #event(output: Type): Type {
    const isIterable = /^Async(?:Generator|IterableIterator|Iterable)$/.test(output.getSymbol()?.name ?? '');
    const [yielded] =
      isIterable && output.isTypeReference() ? this.#checker.getTypeArguments(output) : [output];
    return yielded ?? output;
  }

  /** Returns the type of a property of a property; `undefined` if there is none. */
  #member(type: Type, ...names: readonly string[]): Type | undefined {
    let at: Type | undefined = type;
    for (const name of names) {
      const symbol: TypeSymbol | undefined = at && this.#checker.getPropertyOfType(at, name);
      at = symbol && this.#checker.getTypeOfSymbol(symbol);
    }
    return at;
  }
}
