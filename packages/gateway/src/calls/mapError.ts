import { TRPCError } from '@trpc/server';
import { formatValue } from '../http/formatValue.ts';
import { requireSync } from '../http/hooks.ts';
import { isMapped, isTrpcError, mappedError } from '../procedures/clientError.ts';
import { failureOf } from '../procedures/execute.ts';
import { LimitError } from '../procedures/limitError.ts';

/** Converts anything that the application has thrown to the error of its call, as clients receive it. */
export type ToError = (cause: unknown) => TRPCError;

/** Creates the function that applies `mapError` of the options to errors of the application. */
export const errorMapper =
  (mapError: (error: TRPCError) => TRPCError | undefined): ToError =>
  (cause) => {
    const { error } = failureOf(cause);
    if (error instanceof LimitError || isMapped(error)) return error;
    try {
      const mapped: unknown = requireSync(mapError(error), 'mapError');
      if (mapped === undefined) return error;
      if (isTrpcError(mapped)) return mappedError(mapped, error);
      throw new TypeError(
        `mapError returned ${formatValue(mapped)}. Return a TRPCError, an error of declareErrors, or undefined.`,
      );
    } catch (ownError) {
      const failed = new AggregateError([ownError, error], 'mapError failed.');
      return new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause: failed });
    }
  };

/** Returns a function that rejects with the mapped error of another one. */
export const mapRejection =
  <Options>(run: (options: Options) => unknown, toError: ToError) =>
  async (options: Options): Promise<unknown> => {
    try {
      return await run(options);
    } catch (cause) {
      throw toError(cause);
    }
  };
