import java.io.*;
import java.nio.*;
import java.nio.file.*;
import weka.attributeSelection.*;
import weka.core.*;

/**
 * Times one of Weka's attribute evaluators inside a warm virtual machine.
 *
 * Arguments: evaluator class, data file, file for the scores, rows, columns, classes,
 * number of codes (0 for numeric columns), timed calls. The data file holds doubles in
 * the machine's own byte order, row by row, the class last in each row. Prints the best
 * time in seconds.
 */
public class WekaTimer {
  public static void main(String[] args) throws Exception {
    int rows = Integer.parseInt(args[3]), columns = Integer.parseInt(args[4]);
    int classes = Integer.parseInt(args[5]), codes = Integer.parseInt(args[6]);
    int calls = Integer.parseInt(args[7]);
    Instances data = read(args[1], rows, columns, classes, codes);
    double best = Double.POSITIVE_INFINITY;
    double[] scores = null;
    for (int call = 0; call <= calls; call++) {
      long started = System.nanoTime();
      scores = evaluate(args[0], data);
      double seconds = (System.nanoTime() - started) / 1e9;
      // The first call is for the compiler; slow evaluators are not asked again.
      if (call > 0 || seconds > 20) best = Math.min(best, seconds);
      if (seconds > 20) break;
    }
    ByteBuffer bytes = ByteBuffer.allocate(8 * columns).order(ByteOrder.nativeOrder());
    bytes.asDoubleBuffer().put(scores);
    Files.write(Paths.get(args[2]), bytes.array());
    System.out.println(best);
  }

  static double[] evaluate(String name, Instances data) throws Exception {
    ASEvaluation evaluator = ASEvaluation.forName(name, new String[0]);
    evaluator.buildEvaluator(data);
    double[] scores = new double[data.numAttributes() - 1];
    for (int j = 0; j < scores.length; j++)
      scores[j] = ((AttributeEvaluator) evaluator).evaluateAttribute(j);
    return scores;
  }

  static Instances read(String file, int rows, int columns, int classes, int codes)
      throws Exception {
    FastVector attributes = new FastVector();
    for (int j = 0; j < columns; j++)
      attributes.addElement(
          codes == 0 ? new Attribute("x" + j) : new Attribute("x" + j, values(codes)));
    attributes.addElement(new Attribute("class", values(classes)));
    Instances data = new Instances("data", attributes, rows);
    data.setClassIndex(columns);
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(Paths.get(file)));
    DoubleBuffer numbers = bytes.order(ByteOrder.nativeOrder()).asDoubleBuffer();
    for (int i = 0; i < rows; i++) {
      double[] row = new double[columns + 1];
      numbers.get(row);
      data.add(instance(row));
    }
    return data;
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
