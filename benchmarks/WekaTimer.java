import java.io.*;
import java.nio.*;
import java.nio.file.*;
import weka.attributeSelection.*;
import weka.core.*;

/**
 * Times one of Weka's attribute evaluators or classifiers inside a warm virtual machine.
 *
 * Arguments: class, data file, file for what was found (the score of every attribute, or
 * the class that is predicted for every row), rows, columns, classes, number of codes (0
 * for numeric columns), untimed calls, timed calls, and where these are short: the seconds to
 * go on for, and the most calls. The data file holds doubles in the machine's own
 * byte order, row by row, the class last in each row; NaN is missing. A nominal column
 * has as many values as it needs. Prints the best time in seconds, of scoring all
 * attributes or of building the classifier, and the number of timed calls.
 */
public class WekaTimer {
  public static void main(String[] args) throws Exception {
    int rows = Integer.parseInt(args[3]), columns = Integer.parseInt(args[4]);
    int classes = Integer.parseInt(args[5]), codes = Integer.parseInt(args[6]);
    int warm = Integer.parseInt(args[7]), calls = Integer.parseInt(args[8]);
    int most = Integer.parseInt(args[10]), timed = 0;
    double enough = Double.parseDouble(args[9]), spent = 0;
    Instances data = read(args[1], rows, columns, classes, codes);
    boolean learns = args[0].startsWith("weka.classifiers.");
    double best = Double.POSITIVE_INFINITY;
    double[] scores = null;
    Object classifier = null;
    // The first calls are for the compiler.
    for (int call = 0; timed < calls || (timed < most && spent < enough); call++) {
      long started = System.nanoTime();
      if (learns) classifier = build(args[0], data);
      else scores = evaluate(args[0], data);
      double seconds = (System.nanoTime() - started) / 1e9;
      // Slow ones are not asked again.
      if (call >= warm || seconds > 20) {
        best = Math.min(best, seconds);
        spent += seconds;
        timed++;
      }
      if (seconds > 20) break;
    }
    if (learns) scores = predict(classifier, data);
    ByteBuffer bytes =
        ByteBuffer.allocate(8 * scores.length).order(ByteOrder.nativeOrder());
    bytes.asDoubleBuffer().put(scores);
    Files.write(Paths.get(args[2]), bytes.array());
    System.out.println(best + " " + timed);
  }

  static double[] evaluate(String name, Instances data) throws Exception {
    ASEvaluation evaluator = ASEvaluation.forName(name, new String[0]);
    evaluator.buildEvaluator(data);
    double[] scores = new double[data.numAttributes() - 1];
    for (int j = 0; j < scores.length; j++)
      scores[j] = ((AttributeEvaluator) evaluator).evaluateAttribute(j);
    return scores;
  }

  /** Before 3.7 a classifier was a class; since then it is an interface. */
  static Object build(String name, Instances data) throws Exception {
    Object classifier = Class.forName(name).getDeclaredConstructor().newInstance();
    classifier.getClass().getMethod("buildClassifier", Instances.class).invoke(classifier, data);
    return classifier;
  }

  static double[] predict(Object classifier, Instances data) throws Exception {
    java.lang.reflect.Method method =
        classifier.getClass().getMethod("classifyInstance", Instance.class);
    double[] named = new double[data.numInstances()];
    for (int i = 0; i < named.length; i++)
      named[i] = (Double) method.invoke(classifier, data.instance(i));
    return named;
  }

  static Instances read(String file, int rows, int columns, int classes, int codes)
      throws Exception {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(Paths.get(file)));
    DoubleBuffer numbers = bytes.order(ByteOrder.nativeOrder()).asDoubleBuffer();
    double[][] table = new double[rows][columns + 1];
    for (double[] row : table) numbers.get(row);
    FastVector attributes = new FastVector();
    for (int j = 0; j < columns; j++)
      attributes.addElement(
          codes == 0
              ? new Attribute("x" + j)
              : new Attribute("x" + j, values(largest(table, j) + 1)));
    attributes.addElement(new Attribute("class", values(classes)));
    Instances data = new Instances("data", attributes, rows);
    data.setClassIndex(columns);
    for (double[] row : table) data.add(instance(row));
    return data;
  }

  static int largest(double[][] table, int column) {
    int most = 0;
    for (double[] row : table)
      if (!Double.isNaN(row[column])) most = Math.max(most, (int) row[column]);
    return most;
  }

  static FastVector values(int count) {
    FastVector values = new FastVector();
    for (int v = 0; v < count; v++) values.addElement("v" + v);
    return values;
  }

  /** Before 3.7 an instance was a class; since then it is an interface. */
  static Instance instance(double[] row) throws Exception {
    Class<?> kind;
    try {
      kind = Class.forName("weka.core.DenseInstance");
    } catch (ClassNotFoundException older) {
      kind = Class.forName("weka.core.Instance");
    }
    return (Instance) kind.getConstructor(double.class, double[].class).newInstance(1.0, row);
  }
}
