/** A schema that implements Standard Schema 1 (https://standardschema.dev), such as those of zod, Valibot and ArkType. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    /** Converts the schema to JSON Schema: Standard JSON Schema 1 (https://standardschema.dev/json-schema). */
    readonly jsonSchema?: Readonly<
      Record<'input' | 'output', (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>>
    >;
  };
}

interface StandardResult {
  readonly value?: unknown;
  /** Absent if the value is valid. */
  readonly issues?: readonly StandardIssue[] | undefined;
}

export interface StandardIssue {
  readonly message: string;
  /** ArkType only: the message without the leading path. */
  readonly problem?: string | undefined;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Whether a value implements Standard Schema. ArkType's schemas are functions. */
export const isStandardSchema = (value: unknown): value is StandardSchema =>
  (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
