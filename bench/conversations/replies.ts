/** Replies of the scripted language model: one to three sentences, as a telephone assistant would say them. */

export const REPLIES = [
  'Of course, I can help you with that. For how many people should I book the table?',
  'Yes, we are open until ten in the evening. The kitchen closes half an hour earlier.',
  'Yes, we can do that. I have made a note of it.',
  'Let me check that for you. There is one table left at seven, close to the window.',
  'We have a small car park behind the building. It is free for our guests after six.',
  'Thank you for calling. We look forward to your visit.',
  'The soup of the day is tomato with basil. It is made without cream or butter.',
  'I am sorry, that day is fully booked. Would the day after be possible as well?',
];
