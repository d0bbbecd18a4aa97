import { errorText as textOf } from 'trpc-gateway-runtime/signals';

/** Errors with a message for operators. Identified by name, because importing the classes would load their modules. */
export const expectedErrors = ['CommandError', 'ConfigurationError', 'StoreError'];

/** Formats an error for operators: the message of an expected error, the stack of any other. */
export const formatError = (error: unknown): string => textOf(error, expectedErrors);
