/** Whether tests that have a short form and a long one run the long one: `npm run test:long`. */
export const longForm = process.env['PETSTORE_TESTS'] === 'long';
