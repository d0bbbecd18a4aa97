/** The compared parts of an OpenAPI 3.1 document. The rest is descriptive. */
export interface ComparedDocument {
  readonly servers?: readonly { readonly url: string }[];
  readonly security?: readonly SecurityRequirement[];
  readonly paths?: Readonly<Record<string, OpenApiPathItem>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, ComparedSchema>>;
    readonly securitySchemes?: Readonly<Record<string, object>>;
  };
}

/** Operations by method in lower case. `parameters` apply to all of them. */
export type OpenApiPathItem = { readonly parameters?: readonly Referable<OpenApiParameter>[] } & {
  readonly [method in (typeof operationMethods)[number]]?: OpenApiOperation;
};

export interface OpenApiOperation {
  readonly operationId?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly SecurityRequirement[];
  readonly parameters?: readonly Referable<OpenApiParameter>[];
  readonly requestBody?: Referable<RequestBody>;
  readonly responses?: Readonly<Record<string, Referable<OpenApiResponse>>>;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly style?: string;
  readonly explode?: boolean;
  readonly schema?: ComparedSchema;
}

interface RequestBody {
  readonly required?: boolean;
  readonly content?: OpenApiContent;
}

export interface OpenApiResponse {
  readonly headers?: Readonly<Record<string, Referable<OpenApiHeader>>>;
  readonly content?: OpenApiContent;
}

interface OpenApiHeader {
  readonly required?: boolean;
  readonly schema?: ComparedSchema;
}

export type OpenApiContent = Readonly<Record<string, { readonly schema?: ComparedSchema }>>;
type SecurityRequirement = Readonly<Record<string, readonly string[]>>;
export type Referable<T> = T | { readonly $ref: string };

/** A JSON Schema (2020-12). */
export type ComparedSchema = boolean | Readonly<Record<string, unknown>>;

export const operationMethods = [
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
  'trace',
] as const;

/**
 * Resolves a reference. Returns any other value unchanged.
 * @throws {Error} if the target is missing, in another document, or circular
 */
export function resolve<T>(document: ComparedDocument, value: Referable<T>): T {
  let target: unknown = value;
  for (const followed = new Set<string>(); isReference(target);) {
    const { $ref } = target;
    if (!$ref.startsWith('#/') || followed.has($ref))
      throw new Error(`The reference ${$ref} is circular or leads to another document.`);
    followed.add($ref);
    target = $ref
      .slice(2)
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, part) => (at as Readonly<Record<string, unknown>> | undefined)?.[part], document);
    if (target === undefined) throw new Error(`The reference ${$ref} has no target.`);
  }
  return target as T;
}

const isReference = (value: unknown): value is { readonly $ref: string } =>
  typeof value === 'object' && value !== null && '$ref' in value && typeof value.$ref === 'string';
