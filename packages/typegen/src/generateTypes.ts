import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import { type ZodSchema, isZod, metadataOf } from 'trpc-gateway/schemas';
import type { OutputSchemas } from 'trpc-gateway';
import { outputParsers } from './outputs/outputParsers.ts';
import { loadProcedures, type ProcedureInfo } from './procedures.ts';
import { createNames } from './names.ts';
import { print, printComment, propertyName } from './print.ts';
import { routerTree, procedureToTypes, type ProcedureTypes, type RouterTree } from './procedureToTypes.ts';
import { schemaToType, type TypeOptions } from './schemaToType.ts';
import { unionOf, typeToken, type Comment, type TypeNode } from './typeNode.ts';
import { ProcedureErrors } from './procedureErrors.ts';
import { TypegenError } from './typegenError.ts';

export interface TypesOptions {
  /**
   * Additional schemas, such as the exports of the router's module. Zod schemas with an `id` in their metadata become types
   * even if no procedure uses them. If an `id` is the name of a global, such as `Error`, the exported name is used instead.
   */
  readonly exports?: Readonly<Record<string, unknown>>;
  /** Result of the `errorFormatter`: `default` for tRPC's own, or a zod schema. Required with a formatter. */
  readonly errorShape?: 'default' | ZodSchema;
  /**
   * The paths of procedures, such as `comments.add`, whose types need not be known: an input or an output whose type is not known at run
   * time is printed as `unknown`, and errors that are not declared are left out. Default: none, so that the router is rejected.
   */
  readonly unknown?: readonly string[];
  /** Whether every output without a schema is printed as `unknown`. Default: false, so that the router is rejected. */
  readonly unknownOutputs?: boolean;
  /**
   * What outputs without a schema are by their types (`readOutputs`). They are printed as JSON has them, so only for a router
   * without a transformer. Default: none.
   */
  readonly outputs?: OutputSchemas;
}

/**
 * Generates the types of a router as TypeScript source: `AppRouter`, `RouterInputs`, `RouterOutputs`, and a named type with
 * doc comments per entity. The source imports only types of `@trpc/server`. Clients get the same types as from the router
 * itself, except for context and metadata.
 * @throws {TypegenError} if a type is not known at run time; the message names the procedure, the field and the fix
 */
export async function generateTypes(router: AnyTRPCRouter, options: TypesOptions = {}): Promise<string> {
  const unknown = new Set(options.unknown);
  const problems = new ProcedureErrors(unknown);
  const loaded = await loadProcedures(router, unknown, problems);
  const { transformer, errorFormatter } = router._def._config;
  const defaultConfig = initTRPC.create()._config;
  const exported = Object.entries(options.exports ?? {}).filter((entry): entry is [string, ZodSchema] =>
    isZod(entry[1]),
  );
  // A router that was compiled to CommonJS has another copy of @trpc/server.
  const isJson = sourceOf(transformer.output) === sourceOf(defaultConfig.transformer.output);
  const parsers = options.outputs && isJson ? outputParsers(options.outputs) : {};
  const definitions = loaded.map((each) => {
    if (each.output !== undefined || each.event !== undefined) return each;
    return Object.assign({}, each, {
      [each.type === 'subscription' ? 'event' : 'output']: parsers[each.path],
    });
  });
  const verbatim = new Set<ZodSchema>();
  const convertAll = () => {
    const names = createNames(new Map(exported.map(([name, schema]) => [schema, name])));
    const typeOptions: TypeOptions = { names, isJson, verbatim };
    const procedures = new Map<string, ProcedureTypes>();
    for (const each of definitions) {
      try {
        const allowed = { any: unknown.has(each.path), missingOutput: options.unknownOutputs ?? false };
        procedures.set(each.path, procedureToTypes(each, typeOptions, allowed));
      } catch (error) {
        problems.add(each.path, error);
      }
    }
    problems.throwIfAny();
    for (const [name, schema] of exported) {
      if (metadataOf(schema).id === undefined || names.isUsed(schema)) continue;
      schemaToType(schema, { owner: `The schema ${name}`, path: 'it', side: 'output' }, typeOptions);
    }
    const errorShape = errorShapeToType(
      options.errorShape,
      String(errorFormatter) === String(defaultConfig.errorFormatter),
      typeOptions,
    );
    return { procedures, errorShape, types: names.types() };
  };
  let all = convertAll();
  for (let size = 0; size < verbatim.size; all = convertAll()) size = verbatim.size;
  const { procedures, errorShape, types } = all;
  const comments = new Map(definitions.map((each) => [each.path, restComment(each, definitions)]));

  const record = printTree(routerTree(router), { procedures, comments, errorShape }, '  ');
  const body = [
    `/** The type of the router, for clients: \`createTRPCClient<AppRouter>\`. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: ${print(errorShape, '  ')}; transformer: ${!isJson} },
  ${record}
>;

/** The inputs of the procedures, by name. */
export type RouterInputs = inferRouterInputs<AppRouter>;

/** The outputs of the procedures, by name. */
export type RouterOutputs = inferRouterOutputs<AppRouter>;
`,
    ...types.map(
      ({ name, body: type, comment }) =>
        `${printComment(comment, '')}export type ${name} = ${print(type)};\n`,
    ),
  ].join('\n');
  const helpers = printHelperTypes(
    body,
    [...procedures.values()].some(({ errors }) => errors.length > 0),
  );
  return `${fileHeader}${printImports(body + helpers)}\n${body}${helpers}`;
}

const sourceOf = (functions: object) => Object.values(functions).map(String).join('\n');

const fileHeader = '// Generated from the router by trpc-gateway-typegen. Do not edit.\n\n';

const procedureKinds = ['Query', 'Mutation', 'Subscription'] as const;

/** Helper types of the generated source, which it does not export. */
const helperTypes = (hasErrors: boolean): readonly (readonly [name: string, text: string])[] => [
  ...procedureKinds.map((kind) => {
    const [parameter, shape] = hasErrors ? [', Errors = unknown', 'Errors'] : ['', 'unknown'];
    return [
      `${kind}Procedure`,
      `type ${kind}Procedure<Input, Output${parameter}> = TRPC${kind}Procedure<{ input: Input; output: Output; meta: object; errorShape: ${shape} }>;\n`,
    ] as const;
  }),
  ['OctetInput', "type OctetInput = (typeof octetInputParser)['_input'];\n"],
  [
    'DeclaredError',
    'type DeclaredError<Code, Status> = TRPCErrorShape<{ code: Code; httpStatus: Status; path?: string; stack?: string }>;\n',
  ],
  [
    'DeclaredErrorWithData',
    'type DeclaredErrorWithData<Code, Status, Data> = TRPCErrorShape<{ code: Code; httpStatus: Status; path?: string; stack?: string; data: Data }>;\n',
  ],
  [
    'Simplify',
    'type Simplify<Type> = Type extends unknown[] | Date ? Type : { [Key in keyof Type]: Type[Key] };\n',
  ],
];

const mentions = (text: string, name: string) =>
  new RegExp(String.raw`(?<![\w$.'])${name}\b(?!')`).test(text);

function printHelperTypes(body: string, hasErrors: boolean): string {
  const used = helperTypes(hasErrors).filter(([name]) => mentions(body, name));
  return used.length === 0 ? '' : `\n${used.map(([, text]) => text).join('')}`;
}

/** The imports of the generated source, by module, from where every version of tRPC 11 has them: `@trpc/server` itself has some since 11.4 only. */
const imports: Readonly<Record<string, readonly string[]>> = {
  '@trpc/server': [
    ...procedureKinds.map((kind) => `TRPC${kind}Procedure`),
    'inferRouterInputs',
    'inferRouterOutputs',
  ],
  '@trpc/server/http': ['octetInputParser'],
  '@trpc/server/rpc': ['TRPCErrorShape', 'TRPC_ERROR_CODE_KEY', 'TRPC_ERROR_CODE_NUMBER'],
  '@trpc/server/unstable-core-do-not-import': [
    'BuiltRouter as TRPCBuiltRouter',
    'DefaultErrorShape as TRPCDefaultErrorShape',
  ],
};

function printImports(text: string): string {
  return Object.entries(imports)
    .map(([module, names]) => {
      const used = names.filter((name) => mentions(text, name.replace(/.* as /, '')));
      return used.length === 0 ? '' : `import type { ${used.join(', ')} } from '${module}';\n`;
    })
    .join('');
}

interface Procedures {
  readonly procedures: ReadonlyMap<string, ProcedureTypes>;
  readonly comments: ReadonlyMap<string, Comment>;
  /** The error shape of the router, for all procedures. */
  readonly errorShape: TypeNode;
}

function printTree(tree: RouterTree, context: Procedures, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(tree).map(([name, leaf]) => {
    if (typeof leaf !== 'string')
      return `${inner}${propertyName(name)}: ${printTree(leaf, context, inner)};\n`;
    const types = context.procedures.get(leaf);
    if (types === undefined) throw new TypegenError(`Procedure "${leaf}" is not at its path in the router.`);
    const comment = printComment(context.comments.get(leaf) ?? {}, inner);
    const errors = types.errors.length > 0 ? [unionOf(context.errorShape, ...types.errors)] : [];
    const sides = [types.input, types.output, ...errors].map((type) => print(type, inner)).join(', ');
    return `${comment}${inner}${propertyName(name)}: ${types.kind}Procedure<${sides}>;\n`;
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`;
}

function errorShapeToType(
  errorShape: TypesOptions['errorShape'],
  hasDefaultFormatter: boolean,
  typeOptions: TypeOptions,
): TypeNode {
  if (hasDefaultFormatter || errorShape === 'default') return typeToken('TRPCDefaultErrorShape');
  if (isZod(errorShape)) {
    // tRPC does not serialize the type of an error.
    const options = { ...typeOptions, isJson: false };
    return schemaToType(errorShape, { owner: 'The error shape', path: 'it', side: 'output' }, options);
  }
  throw new TypegenError(
    'The router has an errorFormatter, so the shape of its errors is not known. Set errorShape (--error-shape) to a zod schema of its output, or to `default` if it keeps the shape of tRPC.',
  );
}

/** Returns the doc comment of a procedure from its REST metadata. */
function restComment({ rest }: ProcedureInfo, all: readonly ProcedureInfo[]): Comment {
  if (rest === undefined) return {};
  const { summary, description, deprecated, deprecation } = rest;
  const text = description ?? summary;
  if (deprecation === undefined) return { text, deprecated };
  const { since, sunset, successor } = deprecation;
  const replacement = all.find((other) => other.rest?.path === successor && other.rest?.method === 'GET');
  const facts = [
    `Since ${formatDay(since)}${sunset ? `, until ${formatDay(sunset)}` : ''}.`,
    ...(successor ? [`Use ${replacement?.path ?? successor}.`] : []),
  ];
  return { text, deprecated: facts.join(' ') };
}

const formatDay = (date: Date) => date.toISOString().slice(0, 10);
