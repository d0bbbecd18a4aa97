import { errorText as textOf } from '@petstore/runtime/signals';

/** Errors whose message is for operators. By name: their classes load with what throws them. */
export const expectedErrors = ['CommandError', 'ConfigurationError', 'StoreError'];

/** What an operator reads of an error: its message, or of an unexpected error its stack. */
export const errorText = (error: unknown): string => textOf(error, expectedErrors);
