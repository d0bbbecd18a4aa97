import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import { isZod } from './isZod.ts';
import { readProcedures, type Procedure } from './procedures.ts';
import { createNames } from './names.ts';
import { print, printComment, propertyName } from './print.ts';
import { routerTree, procedureToTypes, type ProcedureTypes, type RouterTree } from './procedureToTypes.ts';
import { schemaToType, type TypeOptions } from './schemaToType.ts';
import { union, word, type Comment, type TypeNode } from './typeNode.ts';
import { TypegenError } from './typegenError.ts';
import { metadataOf, type Schema } from './zodDefinition.ts';

export interface TypesOptions {
  /**
   * The exports of the module that has the router, say. The zod schemas among them that have an `id` in their metadata
   * become types even where no procedure uses them; where an `id` is the name of something global, such as `Error`, the
   * exported name is taken.
   */
  readonly exports?: Readonly<Record<string, unknown>>;
  /**
   * What the router's `errorFormatter` gives: `default` where its shape is tRPC's own, or a zod schema. It is asked for
   * where there is a formatter.
   */
  readonly errorShape?: 'default' | Schema;
}

/**
 * A router's types as TypeScript source, flat: `AppRouter`, `RouterInputs`, `RouterOutputs`, and the entities by name,
 * with their doc comments. It imports nothing but types of `@trpc/server`. A client's types are those that it would
 * have of the router itself, context and metadata apart.
 * @throws {TypegenError} one sentence with procedure, field and remedy, where a type cannot be known
 */
export async function generateTypes(router: AnyTRPCRouter, options: TypesOptions = {}): Promise<string> {
  const definitions = await readProcedures(router);
  const { transformer, errorFormatter } = router._def._config;
  const unset = initTRPC.create()._config;
  const exported = Object.entries(options.exports ?? {}).filter((entry): entry is [string, Schema] =>
    isZod(entry[1]),
  );
  const isJson = transformer === unset.transformer;
  const verbatim = new Set<Schema>();
  const typesOfAll = () => {
    const names = createNames(new Map(exported.map(([name, schema]) => [schema, name])));
    const typeOptions: TypeOptions = { names, isJson, verbatim };
    const procedures = new Map(definitions.map((each) => [each.path, procedureToTypes(each, typeOptions)]));
    for (const [name, schema] of exported) {
      if (metadataOf(schema).id === undefined || names.isUsed(schema)) continue;
      schemaToType(schema, { owner: `The schema ${name}`, path: 'it', side: 'output' }, typeOptions);
    }
    const errorShape = errorShapeOf(options.errorShape, errorFormatter === unset.errorFormatter, typeOptions);
    return { procedures, errorShape, types: names.types() };
  };
  let all = typesOfAll();
  for (let known = 0; known < verbatim.size; all = typesOfAll()) known = verbatim.size;
  const { procedures, errorShape, types } = all;
  const comments = new Map(definitions.map((each) => [each.path, commentOf(each, definitions)]));

  const record = printTree(routerTree(router), { procedures, comments, errorShape }, '  ');
  const body = [
    `/** The router, for a client: \`createTRPCClient<AppRouter>\`. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: ${print(errorShape, '  ')}; transformer: ${!isJson} },
  ${record}
>;

/** What each procedure takes, by its name. */
export type RouterInputs = inferRouterInputs<AppRouter>;

/** What each procedure gives, by its name. */
export type RouterOutputs = inferRouterOutputs<AppRouter>;
`,
    ...types.map(
      ({ name, body: type, comment }) =>
        `${printComment(comment, '')}export type ${name} = ${print(type)};\n`,
    ),
  ].join('\n');
  const own = ownTypes(
    body,
    [...procedures.values()].some(({ errors }) => errors.length > 0),
  );
  return `${header}${imports(body, own)}\n${body}${own}`;
}

const header = '// Generated from the router. Change that, not this.\n\n';

const procedureKinds = ['Query', 'Mutation', 'Subscription'] as const;

/** What the generated types are written with, and do not export. */
const vocabulary = (hasErrors: boolean): readonly (readonly [name: string, text: string])[] => [
  ...procedureKinds.map((kind) => {
    const [parameter, shape] = hasErrors ? [', Errors = unknown', 'Errors'] : ['', 'unknown'];
    return [
      `${kind}Procedure`,
      `type ${kind}Procedure<Input, Output${parameter}> = TRPC${kind}Procedure<{ input: Input; output: Output; meta: object; errorShape: ${shape} }>;\n`,
    ] as const;
  }),
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

function ownTypes(body: string, hasErrors: boolean): string {
  const used = vocabulary(hasErrors).filter(([name]) => mentions(body, name));
  return used.length === 0 ? '' : `\n${used.map(([, text]) => text).join('')}`;
}

const trpcTypes = [
  'TRPCBuiltRouter',
  'TRPCDefaultErrorShape',
  'TRPCErrorShape',
  'TRPC_ERROR_CODE_KEY',
  'TRPC_ERROR_CODE_NUMBER',
  'inferRouterInputs',
  'inferRouterOutputs',
];

function imports(body: string, own: string): string {
  const kinds = procedureKinds.map((kind) => `${kind}Procedure`).filter((kind) => mentions(body, kind));
  const names = [
    ...trpcTypes.filter((name) => mentions(body, name) || mentions(own, name)),
    ...kinds.map((kind) => `TRPC${kind}`),
  ];
  const lines = names.toSorted().map((name) => `  ${name},\n`);
  const octets = mentions(body, 'OctetInput') ? "import type { OctetInput } from '@trpc/server/http';\n" : '';
  return `import type {\n${lines.join('')}} from '@trpc/server';\n${octets}`;
}

interface Procedures {
  readonly procedures: ReadonlyMap<string, ProcedureTypes>;
  readonly comments: ReadonlyMap<string, Comment>;
  /** The shape of the errors of all procedures. */
  readonly errorShape: TypeNode;
}

function printTree(tree: RouterTree, known: Procedures, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(tree).map(([name, leaf]) => {
    if (typeof leaf !== 'string') return `${inner}${propertyName(name)}: ${printTree(leaf, known, inner)};\n`;
    const types = known.procedures.get(leaf);
    if (types === undefined)
      throw new TypegenError(`The procedure ${leaf} is not where the router says it is.`);
    const comment = printComment(known.comments.get(leaf) ?? {}, inner);
    const errors = types.errors.length > 0 ? [union(known.errorShape, ...types.errors)] : [];
    const sides = [types.input, types.output, ...errors].map((type) => print(type, inner)).join(', ');
    return `${comment}${inner}${propertyName(name)}: ${types.kind}Procedure<${sides}>;\n`;
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`;
}

function errorShapeOf(
  stated: TypesOptions['errorShape'],
  isUnformatted: boolean,
  typeOptions: TypeOptions,
): TypeNode {
  if (isUnformatted || stated === 'default') return word('TRPCDefaultErrorShape');
  if (stated !== undefined) {
    // tRPC does not serialize the type of an error.
    const options = { ...typeOptions, isJson: false };
    return schemaToType(stated, { owner: 'The error shape', path: 'it', side: 'output' }, options);
  }
  throw new TypegenError(
    "The shape of the router's errors is not known: it has an errorFormatter. Say that it keeps tRPC's own shape (`default`), or name a zod schema of what it gives: errorShape, or --error-shape.",
  );
}

/** What REST metadata says of a procedure, for its doc comment. */
function commentOf({ rest }: Procedure, all: readonly Procedure[]): Comment {
  if (rest === undefined) return {};
  const { summary, description, deprecated, deprecation } = rest;
  const text = description ?? summary;
  if (deprecation === undefined) return { text, deprecated };
  const { since, sunset, successor } = deprecation;
  const replacement = all.find((other) => other.rest?.path === successor && other.rest?.method === 'GET');
  const facts = [
    `Since ${day(since)}${sunset ? `, until ${day(sunset)}` : ''}.`,
    ...(successor ? [`Use ${replacement?.path ?? successor}.`] : []),
  ];
  return { text, deprecated: facts.join(' ') };
}

const day = (date: Date) => date.toISOString().slice(0, 10);
