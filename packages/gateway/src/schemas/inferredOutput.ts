import { listNames } from '../http/warnings.ts';

/** The JSON Schemas of what procedures return, from their types: the file that `trpc-gateway-typegen outputs` writes. */
export interface OutputSchemas {
  /** The version of this format: 1. */
  readonly version: number;
  /** By the path of the procedure. Of a subscription, the schema of each event. */
  readonly procedures: Readonly<Record<string, object>>;
  /** The schemas of named types. The others refer to them as `#/$defs/NAME`. */
  readonly $defs: Readonly<Record<string, object>>;
}

/** What the type of an output without a schema says. It describes values, and parses none. */
export class InferredOutput {
  readonly json: object;
  readonly definitions: OutputSchemas['$defs'];

  constructor(json: object, definitions: OutputSchemas['$defs']) {
    this.json = json;
    this.definitions = definitions;
  }
}

export function inferredOutput(path: string, outputs: OutputSchemas | undefined): InferredOutput | undefined {
  const json = outputs && Object.hasOwn(outputs.procedures, path) ? outputs.procedures[path] : undefined;
  return outputs && json && new InferredOutput(json, outputs.$defs);
}

/** Returns a sentence if schemas are of procedures that a router lacks; `undefined` if they fit. @param procedures by path */
export function mismatchOf(
  { procedures: described }: OutputSchemas,
  procedures: Readonly<Record<string, unknown>>,
): string | undefined {
  const gone = Object.keys(described).filter((path) => !Object.hasOwn(procedures, path));
  if (gone.length === 0) return undefined;
  return `the option outputs describes procedures that the router does not have: ${listNames(gone)}. Run trpc-gateway-typegen outputs again.`;
}
