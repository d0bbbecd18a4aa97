import { TRPCError } from '@trpc/server';
import { isObject } from '../../http/isObject.ts';
import type { PlainCall } from './plainCall.ts';

/** The inputs of a request, parsed when the first is asked for; what that fails with, every further one fails with too. */
export class PlainInputs {
  readonly paths: readonly string[];
  text: string | undefined;
  failure: TRPCError | undefined = undefined;
  readonly #isBatch: boolean;
  readonly #transformer: { deserialize(value: unknown): unknown };
  #values: Record<number, unknown> | undefined = undefined;

  constructor({ paths, isBatch, input }: PlainCall, transformer: { deserialize(value: unknown): unknown }) {
    this.paths = paths;
    this.text = input;
    this.#isBatch = isBatch;
    this.#transformer = transformer;
  }

  read(index: number): unknown {
    if (this.#values === undefined) {
      if (this.failure) throw this.failure;
      try {
        this.#values = this.#parse();
      } catch (cause) {
        this.failure = badInput(cause);
        throw this.failure;
      }
    }
    return this.#values[index];
  }

  /** What was parsed so far. */
  known(index: number): unknown {
    return this.#values?.[index];
  }

  #parse(): Record<number, unknown> {
    const values = Object.create(null) as Record<number, unknown>;
    if (!this.text) return values;
    const inputs: unknown = JSON.parse(this.text);
    if (!this.#isBatch) {
      values[0] = this.#transformer.deserialize(inputs);
      return values;
    }
    if (!isObject(inputs)) {
      throw new TRPCError({
        code: 'BAD_REQUEST',
        message: '"input" needs to be an object when doing a batch call',
      });
    }
    for (let index = 0; index < this.paths.length; index += 1) {
      const input = inputs[index];
      if (input !== undefined) values[index] = this.#transformer.deserialize(input);
    }
    return values;
  }
}

/** What `resolveResponse` makes of an input that cannot be read. */
export const badInput = (cause: unknown): TRPCError =>
  cause instanceof TRPCError
    ? cause
    : new TRPCError({
        code: 'BAD_REQUEST',
        message: cause instanceof Error ? cause.message : 'Invalid input',
        cause,
      });
