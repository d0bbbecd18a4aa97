/** The parts of an OpenAPI 3.1 document that the suites read. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers?: readonly { readonly url: string }[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses?: Readonly<Record<string, Response>>;
    readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
}

export interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  readonly security?: OpenApiDocument['security'];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

export interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<
    Record<
      string,
      { readonly required?: boolean; readonly schema?: JsonSchema; readonly description?: string }
    >
  >;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
}

/** All operations, with path, method and JSON pointer. */
export function operations(document: OpenApiDocument) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({
        path,
        segments: path.split('/'),
        method: method.toUpperCase(),
        operation,
        pointer: pointer('paths', path, method),
      })),
  );
}

/** A JSON pointer in a URI's fragment (RFC 6901 §6). */
export function pointer(...segments: readonly string[]): string {
  return `#${segments
    .map((segment) => `/${encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('')}`;
}

/** Resolves a reference, or returns the value. @throws {Error} if the reference points to nothing */
export function resolve<T extends object>(document: OpenApiDocument, value: T): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value;
  const segments = value.$ref.replace(/^#\/?/, '').split('/');
  // oxlint-disable-next-line typescript/no-explicit-any -- the types along a pointer are unknown
  let target: any = document;
  for (const segment of segments) {
    target = target?.[decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  if (target === undefined) throw new Error(`The document has nothing at ${value.$ref}.`);
  return target;
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
