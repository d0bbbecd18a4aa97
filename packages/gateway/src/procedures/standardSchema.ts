/** A schema of any library: Standard Schema 1 (https://standardschema.dev), as zod, Valibot and ArkType implement it. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    /** The library's name. */
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}

interface StandardResult {
  readonly value?: unknown;
  /** Absent where the value is valid. */
  readonly issues?: readonly StandardIssue[] | undefined;
}

export interface StandardIssue {
  readonly message: string;
  /** ArkType's: the message without the path in front. */
  readonly problem?: string | undefined;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema that describes itself: Standard JSON Schema 1 (https://standardschema.dev/json-schema). */
export interface StandardJsonSchema {
  readonly '~standard': {
    readonly jsonSchema: {
      readonly input: (options: StandardJsonSchemaOptions) => Record<string, unknown>;
      readonly output: (options: StandardJsonSchemaOptions) => Record<string, unknown>;
    };
  };
}

interface StandardJsonSchemaOptions {
  readonly target: 'draft-2020-12';
  /** What the library alone understands. */
  readonly libraryOptions?: Record<string, unknown> | undefined;
}

/**
 * What makes a Standard JSON Schema of the schemas of a library that do not describe themselves, by the library's name:
 * `{ valibot: toStandardJsonSchema }` with the function of `@valibot/to-json-schema`.
 */
export type JsonSchemaConverters = Readonly<
  // oxlint-disable-next-line typescript/no-explicit-any -- takes the schemas of its library alone
  Record<string, (schema: any) => StandardJsonSchema>
>;

/** ArkType's schemas are functions. */
export const isStandardSchema = (value: unknown): value is StandardSchema =>
  (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
